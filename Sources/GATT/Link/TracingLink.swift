import OtaflashATT
import Synchronization

/// A link that tells of every PDU that crosses it, and changes nothing.
public final class TracingLink: Link {
  /// From the host's side.
  public enum Direction: Equatable, Sendable {
    /// From this host to the device.
    case sent
    /// From the device to this host.
    case received
  }

  /// One PDU on its way.
  public struct Crossing: Equatable, Sendable {
    /// Sent or received.
    public let direction: Direction
    /// When it crossed.
    public let instant: LinkInstant
    /// The whole PDU, its opcode first.
    public let pdu: [UInt8]

    /// A PDU that crossed the link.
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
  ///   - link: what carries the PDUs.
  ///   - clock: tells when each crossed.
  ///   - trace: told of a PDU before it is handed to the transport, so that no answer is ever told
  ///     before its request, and of one that was received before it is passed on. It must return
  ///     soon: the link waits for it.
  ///   - ended: told once why the link ended, when its user learns of it or closes it. As quick.
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
      // A wait that was cancelled says nothing about the link.
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
