/// One direction of a connection: the L2CAP PDUs that wait to be sent, and how far the first of
/// them has got.
struct FragmentLane {
  private struct Waiting {
    let pdu: [UInt8]
    /// The number of connection events that had begun when the host wrote the PDU.
    let writtenInEvent: Int
    /// Written while others waited: a controller is refilled while its event lasts.
    let continuesStream: Bool

    var octets: Int { pdu.count + RadioModel.l2capHeaderOctets }
  }

  private let payloadMaximum: Int
  private let octetsMaximum: Int
  /// Whether a stream may be continued in the event in which its next PDU is written.
  private let continuesStreams: Bool
  private var waiting: [Waiting] = []
  private(set) var octets = 0
  /// Octets of the first PDU that the peer has acknowledged.
  private var acknowledged = 0
  /// The peer has the fragment at `acknowledged`, but its acknowledgement was lost.
  private var fragmentArrived = false

  init(payloadMaximum: Int, octetsMaximum: Int, continuesStreams: Bool) {
    self.continuesStreams = continuesStreams
    self.payloadMaximum = payloadMaximum
    self.octetsMaximum = octetsMaximum
  }

  var isEmpty: Bool { waiting.isEmpty }

  /// Queues a PDU; `false` when the queue is full. An empty queue takes a PDU of any size.
  mutating func enqueue(_ pdu: [UInt8], duringEvent event: Int) -> Bool {
    let entry = Waiting(
      pdu: pdu, writtenInEvent: event, continuesStream: continuesStreams && !waiting.isEmpty)
    guard waiting.isEmpty || octets + entry.octets <= octetsMaximum else { return false }
    waiting.append(entry)
    octets += entry.octets
    return true
  }

  mutating func removeAll() {
    waiting.removeAll()
    octets = 0
    acknowledged = 0
    fragmentArrived = false
  }

  /// The payload of the next packet, or `nil` when nothing may be sent in this event.
  ///
  /// - Parameter event: PDUs written since this event began are left out; `nil` = none are.
  func nextPayload(writtenBefore event: Int?) -> Int? {
    guard let first = waiting.first, isOpen(first, event) else { return nil }
    return min(first.octets - acknowledged, payloadMaximum)
  }

  /// Whether packets remain after the next one: the MD bit (Core 5.4, Vol 6, Part B, 4.5.6).
  func hasMoreData(writtenBefore event: Int?) -> Bool {
    guard let first = waiting.first, isOpen(first, event) else { return false }
    if first.octets - acknowledged > payloadMaximum { return true }
    return waiting.count > 1 && isOpen(waiting[1], event)
  }

  private func isOpen(_ entry: Waiting, _ event: Int?) -> Bool {
    guard let event else { return true }
    return entry.writtenInEvent < event || entry.continuesStream
  }

  /// The peer has the next packet. Returns the PDU when this was its last fragment and the packet
  /// is not a repetition.
  mutating func arrive() -> [UInt8]? {
    guard let first = waiting.first, !fragmentArrived else { return nil }
    fragmentArrived = true
    return acknowledged + payloadMaximum >= first.octets ? first.pdu : nil
  }

  /// The acknowledgement of the packet that arrived came back.
  mutating func acknowledge() {
    guard fragmentArrived, let first = waiting.first else { return }
    fragmentArrived = false
    acknowledged += payloadMaximum
    guard acknowledged >= first.octets else { return }
    acknowledged = 0
    octets -= first.octets
    waiting.removeFirst()
  }
}
