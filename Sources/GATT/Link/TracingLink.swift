import OtaflashATT
import Synchronization

/// A link that reports every PDU and changes none of them.
public final class TracingLink: Link {
  /// The direction, seen from the host.
  public enum Direction: Equatable, Sendable {
    /// From this host to the device.
    case sent
    /// From the device to this host.
    case received
  }

  /// One PDU on the link.
  public struct Crossing: Equatable, Sendable {
    /// The direction.
    public let direction: Direction
    /// The time at which the PDU crossed the link.
    public let instant: LinkInstant
    /// The complete PDU, opcode first.
    public let pdu: [UInt8]

    /// Creates the record of a PDU that crossed the link.
    public init(direction: Direction, instant: LinkInstant, pdu: [UInt8]) {
      self.direction = direction
      self.instant = instant
      self.pdu = pdu
    }
  }

  private let link: any Link
  private let clock: any LinkClock
  private let trace: @Sendable (Crossing) -> Void
  private let ended: @Sendable (LinkLoss, LinkInstant) -> Void
  private let hasEnded = Atomic(false)

  /// - Parameters:
  ///   - link: the link that carries the PDUs.
  ///   - clock: the clock for the time of each PDU.
  ///   - trace: called with a PDU before the PDU is passed to the transport, so that a response is
  ///   never reported before its request, and with a received PDU before `receive` returns it. The
  ///   closure must return quickly: the link waits for it.
  ///   - ended: called once with the reason when `receive` reports the end of the link,
  ///   or the caller closes the link. The closure must also return quickly.
  public init(
    _ link: any Link, clock: any LinkClock, trace: @escaping @Sendable (Crossing) -> Void,
    ended: @escaping @Sendable (LinkLoss, LinkInstant) -> Void = { _, _ in }
  ) {
    self.link = link
    self.clock = clock
    self.trace = trace
    self.ended = ended
  }

  public var maximumPDUSize: Int { link.maximumPDUSize }

  public var facts: LinkFacts { link.facts }

  public var security: AttributeSecurity { link.security }

  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await link.raiseSecurity(to: wanted)
  }

  public func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    trace(Crossing(direction: .sent, instant: clock.now, pdu: pdu))
    try await link.send(pdu)
  }

  public func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu: [UInt8]
    do throws(LinkLoss) {
      pdu = try await link.receive()
    } catch {
      // The cancellation of a wait does not affect the link.
      if error != .cancelled { end(because: error) }
      throw error
    }
    trace(Crossing(direction: .received, instant: clock.now, pdu: pdu))
    return pdu
  }

  public func close() {
    end(because: .closedLocally)
    link.close()
  }

  private func end(because loss: LinkLoss) {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    ended(loss, clock.now)
  }
}
