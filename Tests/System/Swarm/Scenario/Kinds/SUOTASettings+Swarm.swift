import OtaflashFirmware
import OtaflashSimulation

extension SUOTASettings: SwarmKind {
  static let days = ["suota", "suota-da1453x"]
  static let ways = ["chip=", "block=", "sizes=no", "erasing=", "replaced=yes"]
  static let samples =
    ["suota", "suota-da1453x"].map { $0 + "?erase=0&write=0&slot=64K" }
    + ["suota?chip=da1468x&", "suota?data=20&", "suota?replaced=yes&", "suota-da1453x?sizes=no&"]
    .map { $0 + "erase=0&write=0&slot=64K" }

  var overwritesWhatRuns: Bool { false }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let bytes = SampleImage.suota(
      plain.describing(version), version: version.description, settings: self)
    return FirmwareImage(
      name: "drawn.img", format: .binary, bytes: bytes, version: version, hardware: nil,
      content: .suota(try SUOTAImage(decoding: bytes)))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    // Without the version, an update is never reported as verified.
    device.settings = ["information=yes", "data=\(draw.pick([20, 128, 244, 244]))"]
    if name == "suota" {
      device.settings.append("chip=\(draw.pick(["da1468x", "da1469x"]))")
    } else {
      device.settings += [
        "block=\(draw.pick([128, 240, 512, 512]))",
        "erasing=\(draw.pick(Erasing.allCases).rawValue)",
      ]
    }
    device.settings.append("replaced=\(draw.either())")
    // A bank that already contains the image refuses it until the device starts the image. With
    // these faults, the device does not start it.
    device.hidden = [.comesBackOld, .reverts]
    return device
  }
}
