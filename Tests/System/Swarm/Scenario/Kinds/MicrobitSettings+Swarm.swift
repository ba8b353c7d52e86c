import OtaflashFirmware
import OtaflashSimulation

extension MicrobitSettings: SwarmKind {
  static let days = ["microbit", "microbit-v1", "calliope"]
  static let ways = ["editor=", "bluetooth=", "runtime="]
  static let samples = [
    "microbit?erase=0&write=0", "microbit-v1?erase=0&write=0", "calliope?erase=0&write=0",
    "microbit?erase=0&write=0&editor=python", "microbit?erase=0&write=0&bluetooth=no",
    "microbit?erase=0&write=0&runtime=other", "microbit-v1?erase=0&write=0&runtime=other",
  ]

  /// A script replaces the running script.
  var overwritesWhatRuns: Bool { true }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    try FirmwareImage.decode(
      name: "drawn.hex", bytes: SampleImage.microbit(plain.bytes, for: self))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    device.settings = ["mtu=\(draw.pick([23, 100, 247]))"]
    device.settings.append("runtime=\(draw.pick(["same", "same", "other"]))")
    if name == "microbit" {
      device.settings += [
        "editor=\(draw.pick([Editor.makecode, .makecode, .python]).rawValue)",
        "bluetooth=\(draw.pick(["yes", "yes", "no"]))",
      ]
    }
    // A script may exceed the flash, and pairing mode ends after some minutes.
    device.takesEveryImage = false
    return device
  }
}
