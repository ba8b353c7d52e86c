import OtaflashFirmware
import OtaflashSimulation

extension OADServerSettings: SwarmKind {
  static let days = ["ti-oad", "ti-oad", "ti-oad-mcuboot", "lego-oad"]
  static let ways = ["chip=", "memory=", "reports-version="]
  static let samples =
    ["ti-oad", "ti-oad-mcuboot", "lego-oad"].map { $0 + "?erase=0&write=0&slot=64K" }
    + ["mtu=23", "memory=3", "reports-version=no&information=yes"].map {
      "ti-oad?erase=0&write=0&slot=64K&" + $0
    }

  var overwritesWhatRuns: Bool { false }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    try FirmwareImage.decode(
      name: "drawn.bin", bytes: SampleImage.oad(plain.bytes, version: version, settings: self))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    device.settings = [
      "memory=\(draw.pick([2, 4, 20, 20, 20]))",
      "reports-version=\(draw.pick(["yes", "yes", "no"]))",
    ]
    draw.drawInformation(&device)
    switch name {
    // The profile with MCUboot has blocks of 240 bytes.
    case "ti-oad-mcuboot":
      device.settings.append("mtu=\(draw.pick([243, 247, 517]))")
      // A host with a smaller ATT_MTU cannot send its blocks.
      device.takesEveryImage = false
    case "ti-oad":
      device.settings += [
        "mtu=\(draw.pick([23, 65, 247, 247]))",
        "chip=\(draw.pick([Chip.cc26x2, .cc13x2, .cc2640r2]).rawValue)",
      ]
    default: break
    }
    return device
  }
}
