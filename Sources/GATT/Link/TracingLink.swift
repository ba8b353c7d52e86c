import OtaflashATT

/// A link that tells of every PDU that crosses it, and changes nothing.
public final class TracingLink: Link {
  public enum Direction: Equatable, Sendable { case sent, received }

  /// One PDU on its way.
  public struct Crossing: Equatable, Sendable {
    public let direction: Direction
    public let instant: LinkInstant
    public let pdu: [UInt8]

    public init(direction: Direction, instant: LinkInstant, pdu: [UInt8]) {
      self.direction = direction
      self.instant = instant
      self.pdu = pdu
    }
  }

  private let link: any Link
  private let clock: any LinkClock
  private let trace: @Sendable (Crossing) -> Void

  /// - Parameter trace: told of a PDU before it is handed to the transport, so that no answer is
  ///   ever told before its request, and of one that was received before it is passed on. It must
  ///   return soon: the link waits for it.
  public init(
    _ link: any Link, clock: any LinkClock, trace: @escaping @Sendable (Crossing) -> Void
  ) {
    self.link = link
    self.clock = clock
    self.trace = trace
  }

  public var maximumPDUSize: Int { link.maximumPDUSize }

  public var facts: LinkFacts { link.facts }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    trace(Crossing(direction: .sent, instant: clock.now, pdu: pdu))
    try await link.send(pdu)
  }

  public func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu = try await link.receive()
    trace(Crossing(direction: .received, instant: clock.now, pdu: pdu))
    return pdu
  }

  public func close() { link.close() }
}
