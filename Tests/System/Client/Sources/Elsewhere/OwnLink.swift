import OtaflashGATT
import Synchronization

/// One end of a link in memory: the complete implementation of a custom transport. A real transport
/// uses a socket, a serial line, or another channel for complete, ordered PDUs in place of the two
/// lanes.
public final class OwnLink: Link {
  public let maximumPDUSize: Int
  private let incoming: Lane
  private let outgoing: Lane

  private init(_ incoming: Lane, _ outgoing: Lane, maximumPDUSize: Int) {
    self.incoming = incoming
    self.outgoing = outgoing
    self.maximumPDUSize = maximumPDUSize
  }

  /// Two connected ends, one for the host and one for the device.
  ///
  /// - Parameters:
  ///   - capacity: the maximum number of PDUs that wait in one direction before `send` waits, 1 or
  ///   more.
  ///   - maximumPDUSize: the longest PDU, in bytes; 23 or more.
  public static func pair(
    capacity: Int = 8, maximumPDUSize: Int = 517
  ) -> (host: OwnLink, device: OwnLink) {
    let (there, back) = (Lane(capacity), Lane(capacity))
    return (
      OwnLink(back, there, maximumPDUSize: maximumPDUSize),
      OwnLink(there, back, maximumPDUSize: maximumPDUSize)
    )
  }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    guard pdu.count <= maximumPDUSize else {
      throw .tooLarge(bytes: pdu.count, limit: maximumPDUSize)
    }
    try await outgoing.put(pdu)
  }

  public func receive() async throws(LinkLoss) -> [UInt8] { try await incoming.take() }

  public func close() {
    incoming.end(reader: .closedLocally, writer: .closedByPeer)
    outgoing.end(reader: .closedByPeer, writer: .closedLocally)
  }

  /// Both ends go out of range and detect the loss, as on a radio.
  public func leaveRange() {
    for lane in [incoming, outgoing] {
      lane.end(reader: .supervisionTimeout, writer: .supervisionTimeout)
    }
  }
}

/// One direction: a bounded queue with one writer and one reader, each of which may wait.
private final class Lane: Sendable {
  private struct State {
    var pdus: [[UInt8]] = []
    var reader: Waiter?
    var writer: Waiter?
    /// The loss that each side detects after the end of the link; the first cause is kept.
    var readerLoss: LinkLoss?
    var writerLoss: LinkLoss?
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(_ capacity: Int) { self.capacity = capacity }

  func put(_ pdu: [UInt8]) async throws(LinkLoss) {
    while true {
      let room = try state.withLock { (state) throws(LinkLoss) -> Waiter? in
        if let loss = state.writerLoss { throw loss }
        guard state.pdus.count < capacity else {
          let room = Waiter()
          state.writer = room
          return room
        }
        state.pdus.append(pdu)
        state.reader?.end()
        return nil
      }
      guard let room else { return }
      await room.wait()
      if Task.isCancelled { throw .cancelled }
    }
  }

  func take() async throws(LinkLoss) -> [UInt8] {
    while true {
      let (pdu, arrival) = try state.withLock { (state) throws(LinkLoss) -> ([UInt8]?, Waiter) in
        let arrival = Waiter()
        guard state.pdus.isEmpty else {
          state.writer?.end()
          return (state.pdus.removeFirst(), arrival)
        }
        // PDUs sent before the end have been delivered.
        if let loss = state.readerLoss { throw loss }
        state.reader = arrival
        return (nil, arrival)
      }
      if let pdu { return pdu }
      await arrival.wait()
      if Task.isCancelled { throw .cancelled }
    }
  }

  func end(reader: LinkLoss, writer: LinkLoss) {
    state.withLock { state in
      state.readerLoss = state.readerLoss ?? reader
      state.writerLoss = state.writerLoss ?? writer
      if reader == .closedLocally { state.pdus = [] }
      state.reader?.end()
      state.writer?.end()
    }
  }
}
