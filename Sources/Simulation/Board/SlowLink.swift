import OtaflashGATT

/// The host's end of a connection on a host that processes received PDUs slowly.
final class SlowLink: Link {
  private static let lookTime = Duration.milliseconds(50)

  private let base: any Link
  private let clock: any LinkClock

  init(_ base: any Link, clock: any LinkClock) {
    self.base = base
    self.clock = clock
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var facts: LinkFacts { base.facts }

  var security: AttributeSecurity { base.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await base.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) { try await base.send(pdu) }

  func receive() async throws(LinkLoss) -> [UInt8] {
    let pdu = try await base.receive()
    guard await clock.pause(for: Self.lookTime) else { throw .cancelled }
    return pdu
  }

  func close() { base.close() }
}
