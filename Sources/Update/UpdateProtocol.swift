/// The update protocols that devices speak.
public enum UpdateProtocol: String, Sendable, CaseIterable {
  /// The OTA service of this project (docs/ota-service.md).
  case otaflash
  /// MCUmgr's Simple Management Protocol, to MCUboot (Zephyr and others).
  case smp
  /// Nordic's Secure DFU: nRF5 SDK 12 and later.
  case nordicSecure = "nordic-dfu"
  /// Nordic's legacy DFU: SDK 11 and earlier, and InfiniTime.
  case nordicLegacy = "nordic-legacy"
}
