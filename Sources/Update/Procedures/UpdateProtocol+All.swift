extension UpdateProtocol {
  /// The protocols of this package, in the order in which the host searches for their bootloaders.
  public static let all: [any UpdateSession.Type] = [
    OTASession.self, SMPSession.self, SecureDFUSession.self, LegacyDFUSession.self,
    EspressifSession.self,
    SilabsSession.self,
    TelinkSession.self,
    SUOTASession.self,
    OADSession.self,
    MicrobitSession.self,
  ]
}
