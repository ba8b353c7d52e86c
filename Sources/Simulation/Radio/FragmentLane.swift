/// One direction of a connection: the L2CAP PDUs that wait to be sent, and the progress of the
/// first PDU.
struct FragmentLane {
  private struct Waiting {
    let pdu: [UInt8]
    /// The number of connection events that had started when the host wrote the PDU.
    let writtenInEvent: Int
    /// Whether the PDU was written while other PDUs waited. A controller can receive such a PDU
    /// from the host during an event.
    let continuesStream: Bool

    var bytes: Int { pdu.count + RadioModel.l2capHeaderBytes }
  }

  private let payloadMaximum: Int
  private let bytesMaximum: Int
  /// Whether a PDU that continues a stream may be sent in the event in which it is written.
  private let continuesStreams: Bool
  private var waiting: [Waiting] = []
  private(set) var bytes = 0
  /// The number of bytes of the first PDU that the peer has acknowledged.
  private var acknowledged = 0
  /// Whether the peer has the fragment at `acknowledged`, but its acknowledgement was lost.
  private var fragmentArrived = false

  init(payloadMaximum: Int, bytesMaximum: Int, continuesStreams: Bool) {
    self.continuesStreams = continuesStreams
    self.payloadMaximum = payloadMaximum
    self.bytesMaximum = bytesMaximum
  }

  var isEmpty: Bool { waiting.isEmpty }

  /// Queues a PDU; returns `false` if the queue is full. An empty queue accepts a PDU of any size.
  mutating func enqueue(_ pdu: [UInt8], duringEvent event: Int) -> Bool {
    let entry = Waiting(
      pdu: pdu, writtenInEvent: event, continuesStream: continuesStreams && !waiting.isEmpty)
    guard waiting.isEmpty || bytes + entry.bytes <= bytesMaximum else { return false }
    waiting.append(entry)
    bytes += entry.bytes
    return true
  }

  mutating func removeAll() {
    waiting.removeAll()
    bytes = 0
    acknowledged = 0
    fragmentArrived = false
  }

  /// Returns the payload size of the next packet in bytes, or `nil` if nothing may be sent in this
  /// event.
  ///
  /// - Parameter event: PDUs written since the start of this event are excluded, unless they
  ///   continue a stream; `nil` = no PDU is excluded.
  func nextPayload(writtenBefore event: Int?) -> Int? {
    guard let first = waiting.first, isOpen(first, event) else { return nil }
    return min(first.bytes - acknowledged, payloadMaximum)
  }

  /// Returns whether more packets remain after the next packet: the MD bit (Core 5.4, Vol 6, Part
  /// B, 4.5.6).
  func hasMoreData(writtenBefore event: Int?) -> Bool {
    guard let first = waiting.first, isOpen(first, event) else { return false }
    if first.bytes - acknowledged > payloadMaximum { return true }
    return waiting.count > 1 && isOpen(waiting[1], event)
  }

  private func isOpen(_ entry: Waiting, _ event: Int?) -> Bool {
    guard let event else { return true }
    return entry.writtenInEvent < event || entry.continuesStream
  }

  /// Handles the arrival of the next packet. Returns the PDU if the packet contains the last
  /// fragment of the PDU and is not a repetition.
  mutating func arrive() -> [UInt8]? {
    guard let first = waiting.first, !fragmentArrived else { return nil }
    fragmentArrived = true
    return acknowledged + payloadMaximum >= first.bytes ? first.pdu : nil
  }

  /// Handles the acknowledgement of the packet that arrived.
  mutating func acknowledge() {
    guard fragmentArrived, let first = waiting.first else { return }
    fragmentArrived = false
    acknowledged += payloadMaximum
    guard acknowledged >= first.bytes else { return }
    acknowledged = 0
    bytes -= first.bytes
    waiting.removeFirst()
  }
}
