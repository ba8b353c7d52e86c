/// The mode in which MCUboot activates a new image (Zephyr, MCUmgr group 0, command 8). An unlisted
/// mode counts as unknown.
public enum MCUbootMode: Int32, Sendable, CaseIterable {
  /// The device reports that its mode is unknown.
  case unknown = -1
  /// One slot: the running application cannot be replaced while it runs.
  case singleApplication = 0
  /// The slots are exchanged by way of a scratch area.
  case swapUsingScratch = 1
  /// The new image is copied over the old image.
  case overwriteOnly = 2
  /// The slots are exchanged without a scratch area, by moving sectors or with an offset of one
  /// sector.
  case swapWithoutScratch = 3
  /// The slot with the higher version runs in place.
  case directXIP = 4
  /// The newer of two images runs in place, on trial.
  case directXIPWithRevert = 5
  /// An image is copied into RAM and runs there.
  case ramLoad = 6
  /// A second, small application receives the image.
  case firmwareLoader = 7

  package init(_ code: Int32) { self = MCUbootMode(rawValue: code) ?? .unknown }
}
