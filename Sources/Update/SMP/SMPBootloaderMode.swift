/// How MCUboot brings a new image to run (Zephyr, MCUmgr group 0, command 8). A mode that is not
/// known here counts as unknown.
public enum SMPBootloaderMode: Int32, Sendable, CaseIterable {
  case unknown = -1
  /// One slot: the running application cannot be replaced while it runs.
  case singleApplication = 0
  case swapUsingScratch = 1
  case overwriteOnly = 2
  /// By moving, or by an offset of one sector.
  case swapWithoutScratch = 3
  /// The slot with the higher version runs where it lies.
  case directXIP = 4
  case directXIPWithRevert = 5
  case ramLoad = 6
  /// A second, small application receives the image.
  case firmwareLoader = 7

  package init(_ code: Int32) { self = SMPBootloaderMode(rawValue: code) ?? .unknown }
}
