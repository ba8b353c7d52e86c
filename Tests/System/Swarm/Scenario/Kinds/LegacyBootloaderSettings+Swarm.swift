import OtaflashFirmware
import OtaflashSimulation

extension LegacyBootloaderSettings: SwarmKind {
  static let days = ["nordic-legacy", "infinitime"]
  static let ways = ["entry=", "variant=", "banks="]
  static let samples =
    [
      "", "&entry=button", "&banks=dual", "&variant=adafruit",
      "&variant=adafruit&banks=dual&entry=button",
    ].map { "nordic-legacy?erase=0&write=0&slot=64K" + $0 }
    + ["infinitime?erase=0&write=0&slot=64K"]

  var overwritesWhatRuns: Bool { variant != .infinitime && banks == .single }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let bytes = plain.describing(version)
    let packet = SampleImage.legacyInitPacket(for: bytes, version: 2, settings: self)
    return .nordic(bytes, version, packet, .legacy(try LegacyInitPacket(decoding: packet)))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    if name == "nordic-legacy" {
      let banks = draw.pick(Banks.allCases)
      device.settings += [
        "entry=\(draw.pick(Entry.allCases).rawValue)",
        "variant=\(draw.pick(["sdk11", "sdk11", "adafruit"]))", "banks=\(banks.rawValue)",
        // The inactivity timer must run longer than the erase of the image's pages, because nothing
        // restarts the timer during the erase.
        "inactivity=\(draw.pick(["15s", "120s", "120s"]))",
      ]
      draw.drawInformation(&device)
      // The previous image is overwritten.
      if banks == .single { device.lies.subtract([.comesBackOld, .reverts]) }
    } else {
      // The watch always reports its running version.
      device.lies.insert(.otherImage)
    }
    return device
  }
}
