/// The state that an update over TI's OAD retains from one connection to the next.
struct OADRetained: RetainedValue {
  var before = IdentityBefore()
  /// The software version that the device reported before the activation.
  var versionBefore: OADReportedVersion?
  /// The number of transfers that failed because blocks were lost.
  var losses = 0
  /// Whether the device has accepted the command to restart into the image.
  var isAccepted = false

  /// The maximum number of transfers that start over after lost blocks.
  static let lossesMaximum = 6
}
