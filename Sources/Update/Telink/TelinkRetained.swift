/// The state that an update over Telink's OTA service retains from one connection to the next.
struct TelinkRetained: RetainedValue {
  var before = IdentityBefore()
  /// The number of variants that the device did not accept.
  var rejectedVariants = 0
  /// The number of transfers that failed because of lost or damaged packets.
  var losses = 0
  /// Whether the device has reported that it accepted the complete image.
  var isAccepted = false

  /// The maximum number of transfers that start over after lost packets.
  static let lossesMaximum = 3
}
