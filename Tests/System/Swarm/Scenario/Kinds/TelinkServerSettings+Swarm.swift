import OtaflashFirmware
import OtaflashSimulation

extension TelinkServerSettings: SwarmKind {
  static let days = ["telink", "telink-legacy"]
  static let ways = ["pdu=", "reversed=yes", "schedule="]
  static let samples =
    ["telink", "telink-legacy"].map { $0 + "?erase=0&write=0&slot=64K" }
    + ["pdu=80", "reversed=yes", "mtu=23", "schedule=pdus", "information=no"].map {
      "telink?erase=0&write=0&slot=64K&" + $0
    }

  var overwritesWhatRuns: Bool { false }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let bytes = SampleImage.telink(plain.describing(version))
    return FirmwareImage(
      name: "drawn.bin", format: .binary, bytes: bytes, version: version, hardware: nil,
      content: .telink(try TelinkImage(decoding: bytes)))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    device.settings = [
      "reversed=\(draw.either())", "mtu=\(draw.pick([23, 100, 247, 247]))",
      "error-delay=\(draw.pick(["0", "500ms", "4s"]))",
    ]
    if name == "telink" {
      device.settings += [
        "pdu=\(draw.pick([16, 80, 240, 240]))", "schedule=\(draw.pick(Schedule.allCases).rawValue)",
      ]
    }
    draw.drawInformation(&device)
    // A slow link or a slow flash exceeds the time limit of the device.
    device.takesEveryImage = false
    return device
  }
}
