/// The keys that devices with Secure and with legacy DFU have in common.
extension KindKey {
  static func inactivity(_ field: WritableKeyPath<Settings, Duration> & Sendable) -> KindKey {
    KindKey("inactivity", "silence that ends the bootloader", "a time such as 120s", field) {
      Quantity.duration($0)
    }
  }

  /// The same where `nil` means what the device's variant has.
  static func inactivity(_ field: WritableKeyPath<Settings, Duration?> & Sendable) -> KindKey {
    KindKey("inactivity", "silence that ends the bootloader", "a time such as 120s", field) {
      Quantity.duration($0).map(Optional.some)
    }
  }

  static func information(_ field: WritableKeyPath<Settings, Bool> & Sendable) -> KindKey {
    KindKey("information", "the application tells its version", field)
  }
}
