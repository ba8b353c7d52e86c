import OtaflashATT
import OtaflashGATT

/// The board's end of a connection, with faults and misbehavior between the stack and the radio.
final class FaultyLink: Link {
  private let base: any Link
  /// The link below `base`; PDUs sent here are not counted.
  private let air: any Link
  private let alteration: (any PDUAlteration)?
  private let filter: Shared<FaultFilter>
  private let clock: any LinkClock

  /// - Parameters:
  ///   - base: the link that counts the PDUs.
  ///   - air: the link below it.
  ///   - filter: the state of the faults, which persists over connections.
  init(
    _ base: any Link, over air: any Link, alteration: (any PDUAlteration)?,
    filter: Shared<FaultFilter>, clock: any LinkClock
  ) {
    (self.base, self.air, self.alteration, self.filter) = (base, air, alteration, filter)
    self.clock = clock
  }

  var maximumPDUSize: Int { base.maximumPDUSize }

  var security: AttributeSecurity { base.security }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    let altered = decode(pdu).map { $1.altered($0).encoded } ?? pdu
    guard !filter.withLock({ $0.loses(altered) }) else { return }
    let (delay, nonsense) = filter.withLock { $0.departure() }
    if delay > .zero, !(await clock.pause(for: delay)) { throw .cancelled }
    if let nonsense { try await air.send(nonsense) }
    try await base.send(altered)
  }

  func receive() async throws(LinkLoss) -> [UInt8] {
    while true {
      let pdu = try await base.receive()
      guard filter.withLock({ $0.receives(pdu) }) else { continue }
      if let (decoded, alteration) = decode(pdu) { alteration.received(decoded) }
      return pdu
    }
  }

  func close() { base.close() }

  /// Returns `nil` if the program has no filter for PDUs, or if the PDU cannot be decoded.
  private func decode(_ pdu: [UInt8]) -> (ATTPDU, any PDUAlteration)? {
    guard let alteration else { return nil }
    do throws(DecodeFault) { return (try ATTPDU(decoding: pdu), alteration) } catch { return nil }
  }
}
