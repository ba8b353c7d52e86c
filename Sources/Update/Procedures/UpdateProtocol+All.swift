extension UpdateProtocol {
  /// The protocols of this package, in the order in which their bootloaders are looked for.
  public static let all: [any UpdateSession.Type] = [
    OTASession.self, SMPSession.self, SecureDFUSession.self, LegacyDFUSession.self,
  ]
}
