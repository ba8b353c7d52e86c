import OtaflashFirmware
import OtaflashSimulation

extension SilabsSettings: SwarmKind {
  static let days = ["silabs", "silabs-app-ota"]
  static let ways = ["start=", "service=", "versions="]
  static let samples = [
    "silabs?erase=0&write=0&slot=64K", "silabs?erase=0&write=0&slot=64K&start=loader",
    "silabs?erase=0&write=0&slot=64K&service=other&versions=no",
    "silabs-app-ota?erase=0&write=0&slot=64K",
  ]

  var overwritesWhatRuns: Bool { receiver == .loader }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let file = SampleImage.gbl(plain.describing(version), version: version)
    return try FirmwareImage.decode(name: "drawn.gbl", bytes: file)
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    if name == "silabs" {
      device.settings += [
        "start=\(draw.pick(Start.allCases).rawValue)",
        "service=\(draw.pick(Service.allCases).rawValue)", "buffer=\(draw.pick([2, 8, 32, 32]))",
      ]
      // The loader overwrites the application, so nothing can be reverted.
      device.lies.subtract([.comesBackOld, .reverts])
    }
    return device
  }
}
