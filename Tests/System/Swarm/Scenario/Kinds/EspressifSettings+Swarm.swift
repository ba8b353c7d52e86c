import OtaflashFirmware
import OtaflashSimulation

extension EspressifSettings: SwarmKind {
  static let days = ["esp-nimble", "esp-bluedroid", "esp-raw", "esp-nimbleota", "esp-bleota"]
  static let ways = ["keep="]
  /// Only a restart ends an interrupted transfer of ble_ota on Bluedroid, so it has no sample.
  static let samples = ["esp-nimble", "esp-raw", "esp-nimbleota", "esp-bleota"].map {
    $0 + "?erase=0&write=0&slot=64K&information=yes"
  }

  var overwritesWhatRuns: Bool { false }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    try FirmwareImage.decode(
      name: "drawn.bin",
      bytes: SampleImage.espressif(plain.bytes, version: version.description, chip: chip))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    // Without the version, an update is never reported as verified.
    device.settings = ["information=yes"]
    if name == "esp-nimbleota" { device.settings.append("keep=\(draw.either())") }
    device.takesEveryImage = name != "esp-bluedroid"
    return device
  }
}
