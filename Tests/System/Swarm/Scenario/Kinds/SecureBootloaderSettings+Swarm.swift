import OtaflashFirmware
import OtaflashSimulation

extension SecureBootloaderSettings: SwarmKind {
  static let days = ["nordic-dfu", "nordic-dfu"]
  static let ways = ["entry=", "banks="]
  static let samples = [
    "entry=buttonless", "entry=experimental", "entry=bonded", "entry=button", "banks=single",
    "mtu=23", "information=no",
  ].map { "nordic-dfu?erase=0&write=0&slot=64K&" + $0 }

  var overwritesWhatRuns: Bool { banks == .single }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let bytes = plain.describing(version)
    let packet = SampleImage.secureInitPacket(for: bytes, version: 2, settings: self)
    return .nordic(bytes, version, packet, .secure(try SecureInitPacket(decoding: packet)))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    let banks = draw.pick(Banks.allCases)
    let (entry, object) = (
      draw.pick(Entry.allCases), draw.pick(["4K", "4K", "8K"])
    )
    let (mtu, inactivity) = (draw.pick([23, 100, 247]), draw.pick(["5s", "120s", "120s"]))
    device.settings = [
      "entry=\(entry.rawValue)", "banks=\(banks.rawValue)", "object=\(object)", "mtu=\(mtu)",
      "inactivity=\(inactivity)",
    ]
    // A slow link may need more than 5 s for an object, and only the end of an object restarts the
    // inactivity timer.
    device.takesEveryImage = inactivity != "5s"
    draw.drawInformation(&device)
    // The previous image is overwritten.
    if banks == .single { device.lies.subtract([.comesBackOld, .reverts]) }
    return device
  }
}
