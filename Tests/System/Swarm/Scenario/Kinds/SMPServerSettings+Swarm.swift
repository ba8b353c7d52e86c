import OtaflashFirmware
import OtaflashSimulation

extension SMPServerSettings: SwarmKind {
  static let days = ["smp", "smp", "smp"]
  static let ways = ["images=2", "netcore=", "mode=", "server=2021", "decompress=yes"]
  static let samples = [
    "mode=swap", "mode=overwrite&progressive=yes", "mode=single", "mode=firmware-loader",
    "mode=firmware-loader&loader-address=same&settings=no",
    "mode=direct-xip", "mode=direct-xip-revert", "mode=ram-load",
    "netbufs=4x384&reassembly=no&mtu=247", "params=no&bootinfo=no&check=no", "v1=yes", "images=2",
    "images=2&netcore=nrf5340",
    "unit=8", "unit=32&netbufs=4x512&reassembly=no", "server=2021",
    "server=2021&params=yes&unit=16",
    "mode=overwrite&decompress=yes",
  ].map { "smp?erase=0&write=0&slot=64K&" + $0 }

  var overwritesWhatRuns: Bool { [.single, .firmwareLoader].contains(mode) }

  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage {
    let bytes =
      decompresses
      ? SampleImage.compressed(plain.bytes, version: version)
      : SampleImage.mcuboot(plain.bytes, version: version)
    return FirmwareImage(
      name: "drawn-\(index).bin", format: .binary, bytes: bytes, version: version, hardware: nil,
      content: .mcuboot(
        try MCUbootImage(decoding: bytes), place: MCUbootPlace(imageIndex: index)))
  }

  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice {
    var device = DrawnDevice(name: name)
    device.lies.formUnion([.otherImage, .nonsense])
    let mode = draw.pick(BootMode.allCases)
    device.settings.append("mode=\(mode.rawValue)")
    let inPlace = mode == .single || mode == .firmwareLoader
    let hasTwo = !inPlace && draw.chance(0.3)
    if hasTwo {
      device.images = [0, 1]
      device.settings.append("images=2")
      // The application's bootloader copies the network core's image.
      if mode == .swapMove && draw.chance(0.5) { device.settings.append("netcore=nrf5340") }
    }
    // The list of four slots does not fit a buffer of 384 bytes.
    let buffers =
      hasTwo
      ? ["2x1024", "4x1024", "4x2475"]
      : ["2x384", "3x512", "4x384", "4x384", "8x1024", "4x2475", "4x2475", "16x2475"]
    // Without reassembly, one write must contain a complete header.
    let reassembles = !draw.chance(0.3)
    if !reassembles { device.hostMTUs = [100, 247, 498, 512, 517] }
    let mtus = reassembles ? ["23", "100", "247", "498"] : ["100", "247", "247", "498"]
    // An old server does not report the mode of its bootloader, and never has a mode that starts a
    // received image automatically.
    let isOld = !inPlace && draw.chance(0.25)
    // MCUboot decompresses images only in this mode.
    let mayDecompress = mode == .overwrite
    let drawn = [
      "server": isOld ? "2021" : "2026", "unit": draw.pick(["1", "1", "4", "8", "16", "32"]),
      "decompress": mayDecompress && draw.chance(0.3) ? "yes" : "no", "netbufs": draw.pick(buffers),
      "mtu": draw.pick(mtus), "progressive": draw.either(), "check": draw.either(),
      "reassembly": reassembles ? "yes" : "no",
      "params": draw.chance(isOld ? 0.5 : 0.1) ? "no" : "yes",
      "bootinfo": !inPlace && (isOld || draw.chance(0.1)) ? "no" : "yes",
      "v1": draw.chance(0.1) ? "yes" : "no",
      "busy": draw.chance(0.1) ? "\(draw.number(1...9))" : "0",
      "no-downgrade": draw.chance(0.1) ? "yes" : "no",
    ]
    device.settings += drawn.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    device.takesEveryImage =
      drawn["bootinfo"] == "yes" && reassembles && drawn["params"] == "yes"
    if mode == .firmwareLoader {
      device.settings.append("loader-address=\(draw.pick(["flipped", "same"]))")
      device.settings.append("settings=\(draw.either())")
    }
    if inPlace {
      // The previous image is overwritten, and the bootloader starts the received image
      // automatically.
      device.lies.subtract([.comesBackOld, .reverts, .newAddress, .otherImage])
    }
    return device
  }
}
