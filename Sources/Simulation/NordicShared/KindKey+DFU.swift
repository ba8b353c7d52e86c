/// The keys that Secure DFU and legacy DFU devices share.
extension KindKey {
  static func inactivity(_ field: WritableKeyPath<Settings, Duration> & Sendable) -> KindKey {
    KindKey("inactivity", "the bootloader's inactivity timeout", "a time such as 120s", field) {
      Quantity.duration($0)
    }
  }

  /// Returns the key `inactivity` for an optional setting; `nil` means the default of the device's
  /// variant.
  static func inactivity(_ field: WritableKeyPath<Settings, Duration?> & Sendable) -> KindKey {
    KindKey("inactivity", "the bootloader's inactivity timeout", "a time such as 120s", field) {
      Quantity.duration($0).map(Optional.some)
    }
  }

  static func information(_ field: WritableKeyPath<Settings, Bool> & Sendable) -> KindKey {
    KindKey("information", "the application reports its version", field)
  }
}
