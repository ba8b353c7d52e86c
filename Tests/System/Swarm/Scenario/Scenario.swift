import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// One update of one simulated device with all of its faults. A scenario is a value, so that it can
/// be drawn, printed and repeated.
public struct Scenario: Sendable {
  /// The device and its faults, in the form of the text after `sim:`.
  public var profile: String
  public var image: FirmwareImage
  /// The further images in the same package.
  public var otherImages: [FirmwareImage] = []
  public var mode = WriteMode.withResponse
  /// The ATT_MTU that the host requests.
  public var mtu = 512
  /// The images that the host stores; one of them may be the running image of the device.
  public var bases: [[UInt8]] = []
  public var delta = DeltaPolicy.auto
  /// The cache that creates each stream once for all runs of a sweep.
  var sharedFinder: BaseFinder?
  /// Updates by other hosts before this update, in order.
  public var earlier: [EarlierUpdate] = []
  /// The key that the host uses, which may be wrong.
  public var key: [UInt8]?
  public var allowDowngrade = false
  /// The time after which the user interrupts the update.
  public var cancelAfter: Duration?
  /// The time after which the device loses power.
  public var powerCutAfter: Duration?
  /// The data and notifications that are lost between stack and application.
  public var losses = PDULosses()

  public init(profile: String, image: FirmwareImage) {
    self.profile = profile
    self.image = image
  }

  /// The images to send, in order.
  public var images: [FirmwareImage] { [image] + otherImages }

  var package: FirmwarePackage {
    FirmwarePackage(
      name: image.name, kind: otherImages.isEmpty ? .raw : .deviceManager, parts: images)
  }

  /// Whether all faults are temporary, so that the update must succeed.
  public var mustSucceed = false
  /// Whether the device reports wrong values that an update must detect, or never runs the new
  /// image.
  public var mustFail = false

  var losesPower: Bool {
    powerCutAfter != nil || profile.contains("\(Fault.resetAtFlashOperation.rawValue)=")
  }

  /// Returns the scenario of the same device and image, without faults.
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

  /// The settings that the device keeps in a scenario without faults.
  private static let lasting =
    ["slot", "version", "hardware", "key"] + SimulationProfile.kinds.flatMap { $0.keys.map(\.key) }

  /// Returns a profile of the same device without faults and without flash delays. Of the settings
  /// in `profile`, only those in `lasting` are kept.
  private static func withoutFaults(_ profile: String, _ device: DeviceKind) -> String {
    let parts = profile.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let settings = parts.count > 1 ? parts[1].split(separator: "&") : []
    let kept = settings.filter { setting in lasting.contains { setting.hasPrefix("\($0)=") } }
    guard device != .otaReceiver else { return "fast?" + kept.joined(separator: "&") }
    return "\(parts[0])?" + (["erase=0", "write=0"] + kept).joined(separator: "&")
  }
}

extension FirmwareImage {
  /// Returns an image for the simulated board, with content that depends on `seed`.
  public static func drawn(
    size: Int, version: FirmwareVersion = FirmwareVersion(1, 3, 0), seed: UInt64 = 1
  ) -> FirmwareImage {
    var random = SeededRandom(seed: seed)
    return FirmwareImage(
      name: "drawn.bin", format: .binary, bytes: random.bytes(count: size), version: version,
      hardware: HardwareID(0xA001))
  }
}
