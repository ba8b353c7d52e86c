/// The state that an update over SUOTA retains from one connection to the next.
struct SUOTARetained: RetainedValue {
  var before = IdentityBefore()
  /// The number of transfers in which packets were lost.
  var losses = 0
  /// The number of buffer sizes that the device did not accept.
  var rejectedBuffers = 0
  /// Whether the device already holds the image, from an attempt whose end was not answered.
  var isHeld = false
  /// Whether the device has reported that it accepted the complete image.
  var isAccepted = false
  /// Whether the device has restarted since it accepted the image.
  var hasRestarted = false

  /// The maximum number of transfers that start over after lost packets.
  static let lossesMaximum = 3
}
