#if Fleet
/// The value of `devices-from` in a campaign.
enum KnownSource: String, CaseIterable {
  /// The devices that are known from earlier commands and campaigns.
  case known

  static let key = "devices-from"
}
#endif
