#if Fleet
/// The value of `devices-from` in a campaign.
enum KnownSource: String, CaseIterable {
  /// The known devices of earlier commands and campaigns.
  case known

  static let key = "devices-from"
}
#endif
