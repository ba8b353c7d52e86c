import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// One update of one simulated device, with all that goes wrong in it: a value, so that it can be
/// drawn, printed and run again.
public struct Scenario: Sendable {
  /// The device and its faults, as behind `sim:`.
  public var profile: String
  public var image: FirmwareImage
  /// Images for the device's further ones, in the same package.
  public var otherImages: [FirmwareImage] = []
  public var mode = WriteMode.withResponse
  /// The ATT_MTU that the host asks for.
  public var mtu = 512
  /// The images that the host keeps; one may be what the device runs.
  public var bases: [[UInt8]] = []
  public var delta = DeltaPolicy.auto
  /// Makes each stream once for all runs of a sweep.
  var sharedFinder: BaseFinder?
  /// What others do to the device first, in this order.
  public var earlier: [EarlierUpdate] = []
  /// What the host believes to be the device's key.
  public var key: [UInt8]?
  public var allowDowngrade = false
  /// The user interrupts the update at that moment.
  public var cancelAfter: Duration?
  /// The device's power fails at that moment.
  public var powerCutAfter: Duration?
  /// Data and notifications that are lost between stack and application.
  public var losses = PDULosses()

  public init(profile: String, image: FirmwareImage) {
    self.profile = profile
    self.image = image
  }

  /// What is sent, in its order.
  public var images: [FirmwareImage] { [image] + otherImages }

  var package: FirmwarePackage {
    FirmwarePackage(
      name: image.name, kind: otherImages.isEmpty ? .raw : .deviceManager, parts: images)
  }

  /// Every fault passes, and what passes no update may fail for.
  public var mustSucceed = false
  /// The device lies in a way that no update may believe, or never shows the new image.
  public var mustFail = false

  var losesPower: Bool {
    powerCutAfter != nil || profile.contains("\(Fault.resetAtFlashOperation.rawValue)=")
  }

  /// The same device and image on a day when nothing goes wrong.
  func cure() throws(ScenarioFault) -> Scenario {
    let settings = try settings()
    var cure = Scenario(profile: Self.withoutFaults(profile, settings.device), image: image)
    cure.otherImages = otherImages
    cure.mode = mode
    cure.key = settings.key
    cure.allowDowngrade = allowDowngrade
    cure.bases = bases
    return cure
  }

  /// Settings that say which device it is.
  private static let lasting =
    ["slot", "version", "hardware", "key"] + SimulationProfile.kinds.flatMap { $0.keys.map(\.key) }

  /// Keeps of a profile what says which device it is.
  private static func withoutFaults(_ profile: String, _ device: DeviceKind) -> String {
    let parts = profile.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let kept = settings.filter { setting in lasting.contains { setting.hasPrefix("\($0)=") } }
    guard device != .otaReceiver else { return "fast?" + kept.joined(separator: "&") }
    return "\(parts[0])?" + (["erase=0", "write=0"] + kept).joined(separator: "&")
  }
}

extension FirmwareImage {
  /// An image for the simulated board, with content that depends on `seed`.
  public static func drawn(
    size: Int, version: FirmwareVersion = FirmwareVersion(1, 3, 0), seed: UInt64 = 1
  ) -> FirmwareImage {
    var random = SeededRandom(seed: seed)
    return FirmwareImage(
      name: "drawn.bin", format: .binary, bytes: random.bytes(count: size), version: version,
      hardware: HardwareID(0xA001))
  }
}
