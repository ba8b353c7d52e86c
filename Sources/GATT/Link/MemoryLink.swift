import Synchronization

/// One end of a link in memory: two bounded queues, one for each direction. The link connects a
/// client and a `GATTServer` in one process, for tests and for systems that hide ATT.
public final class MemoryLink: Link {
  /// The default maximum PDU size in bytes: the size of the kernel's L2CAP socket.
  public static let maximumPDUSizeDefault = 672

  public let maximumPDUSize: Int
  private let incoming: MemoryQueue
  private let outgoing: MemoryQueue

  private init(incoming: MemoryQueue, outgoing: MemoryQueue, maximumPDUSize: Int) {
    self.incoming = incoming
    self.outgoing = outgoing
    self.maximumPDUSize = maximumPDUSize
  }

  /// Returns two connected ends, one for the host and one for the device. Both ends behave the
  /// same.
  ///
  /// - Parameters:
  ///   - capacity: the number of PDUs that each direction holds before `send` waits, 1 or more.
  ///   - maximumPDUSize: the longest PDU in bytes, 23 or more.
  public static func pair(
    capacity: Int = 8, maximumPDUSize: Int = maximumPDUSizeDefault
  ) -> (host: MemoryLink, device: MemoryLink) {
    precondition(maximumPDUSize >= 23, "the maximum PDU size must be at least 23 bytes")
    let (there, back) = (MemoryQueue(capacity: capacity), MemoryQueue(capacity: capacity))
    return (
      MemoryLink(incoming: back, outgoing: there, maximumPDUSize: maximumPDUSize),
      MemoryLink(incoming: there, outgoing: back, maximumPDUSize: maximumPDUSize)
    )
  }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    guard pdu.count <= maximumPDUSize else {
      throw .tooLarge(bytes: pdu.count, limit: maximumPDUSize)
    }
    try await outgoing.put(pdu)
  }

  public func receive() async throws(LinkLoss) -> [UInt8] { try await incoming.take() }

  public func close() { end(.closedLocally, peer: .closedByPeer) }

  /// Ends the link like a radio link whose device is out of range: both ends report a supervision
  /// timeout. The other end first delivers the PDUs that were sent before; this end discards PDUs
  /// that it has not read.
  public func loseSupervision() { end(.supervisionTimeout, peer: .supervisionTimeout) }

  private func end(_ cause: LinkLoss, peer peerCause: LinkLoss) {
    incoming.end(reader: cause, writer: peerCause, dropsQueue: true)
    outgoing.end(reader: peerCause, writer: cause, dropsQueue: false)
  }
}

/// A bounded queue with one writer and one reader, each of which may wait.
private final class MemoryQueue: Sendable {
  private struct State {
    var pdus: [[UInt8]] = []
    /// The cause that each end throws. Set once, by the first end that closes the link.
    var readerLoss: LinkLoss?
    var writerLoss: LinkLoss?
    var reader: OneShot<Void>?
    var writer: OneShot<Void>?
  }

  private enum Step<Value> {
    case done(Value, wake: OneShot<Void>?)
    case wait(OneShot<Void>)
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    precondition(capacity >= 1, "a link holds one PDU or more")
    self.capacity = capacity
  }

  func put(_ pdu: [UInt8]) async throws(LinkLoss) {
    while true {
      let step = try state.withLock { state throws(LinkLoss) -> Step<Void> in
        if let loss = state.writerLoss { throw loss }
        guard state.pdus.count < capacity else {
          let turn = OneShot<Void>()
          state.writer = turn
          return .wait(turn)
        }
        state.pdus.append(pdu)
        return .done((), wake: state.reader.take())
      }
      switch step {
      case .done(_, let reader):
        reader?.fulfil(())
        return
      case .wait(let turn):
        guard await turn.wait() != nil else { throw .cancelled }
      }
    }
  }

  func take() async throws(LinkLoss) -> [UInt8] {
    while true {
      let step = try state.withLock { state throws(LinkLoss) -> Step<[UInt8]> in
        if !state.pdus.isEmpty {
          return .done(state.pdus.removeFirst(), wake: state.writer.take())
        }
        if let loss = state.readerLoss { throw loss }
        let turn = OneShot<Void>()
        state.reader = turn
        return .wait(turn)
      }
      switch step {
      case .done(let pdu, let writer):
        writer?.fulfil(())
        return pdu
      case .wait(let turn):
        guard await turn.wait() != nil else { throw .cancelled }
      }
    }
  }

  /// Ends the queue for its reader and its writer; the first cause of each is kept.
  ///
  /// - Parameter dropsQueue: whether the queued PDUs are discarded, because the reader closed the
  ///   link.
  func end(reader: LinkLoss, writer: LinkLoss, dropsQueue: Bool) {
    let waiting = state.withLock { state in
      if state.readerLoss == nil { state.readerLoss = reader }
      if state.writerLoss == nil { state.writerLoss = writer }
      if dropsQueue { state.pdus = [] }
      return [state.reader.take(), state.writer.take()]
    }
    for turn in waiting { turn?.fulfil(()) }
  }
}
