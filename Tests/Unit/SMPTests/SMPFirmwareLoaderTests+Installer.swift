import OtaflashFirmware
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of installers of a SoftDevice and a firmware loader, which are images that run once.
extension SMPFirmwareLoaderTests {
  private static func loader() throws -> MCUbootImage {
    try MCUbootImage(decoding: bootableBytes(MCUbootVersion(1, 4, 0), size: 6_000, seed: 5))
  }

  private static func installer(withLoader: Bool = true) throws -> FirmwareImage {
    let softDevice = bootableBytes(MCUbootVersion(10, 0, 1), size: 9_000, seed: 4)
    let loader = bootableBytes(MCUbootVersion(1, 4, 0), size: 6_000, seed: 5)
    let parts = [(UInt8(1), softDevice)] + (withLoader ? [(UInt8(2), loader)] : [])
    let version = MCUbootVersion(2, 0, 0)
    let bytes = bootableBytes(
      version, body: [0x92, 0x11, 1, 2, 3] + installerTable(parts), entries: [0xA0, 0, 1, 0, 1])
    return FirmwareImage(
      name: "installer.bin", format: .binary, bytes: bytes, version: version.firmwareVersion,
      hardware: nil,
      content: .mcuboot(try MCUbootImage(decoding: bytes), place: MCUbootPlace()))
  }

  private static func milestones(_ ending: Ending) -> [String] {
    ending.steps.filter { $0.hasPrefix("connect") || $0.hasPrefix("reset") || $0 == "upload" }
  }

  @Test("an installer runs first, and the application follows", arguments: [true, false])
  func installerAndApplication(installerFirst: Bool) throws {
    let (installer, image) = (try Self.installer(), try Self.image())
    let ending =
      installerFirst
      ? try Self.flash(installer, image, onto: Self.settings)
      : try Self.flash(image, installer, onto: Self.settings)
    let result = try ending.outcome.get()
    #expect(result.outcome == .flashed && result.proof == .readBack && !result.awaitsApplication)
    #expect(result.to == image.version)
    #expect(ending.running == image.bytes)
    #expect(
      Self.milestones(ending) == [
        "connect home", "reset to loader", "connect address XOR 1", "upload", "reset",
        "connect address XOR 1", "upload", "reset", "connect home",
      ])
  }

  @Test(
    "an installer without an application leaves the device in its loader",
    arguments: ["", "&loader-address=same", "&loader-address=same&settings=no"])
  func installerAlone(_ more: String) throws {
    let ending = try Self.flash(try Self.installer(), onto: Self.settings + more)
    let result = try ending.outcome.get()
    #expect(result.outcome == .flashed && result.proof == .readBack && result.awaitsApplication)
    #expect(result.to == nil && ending.running == [])
    #expect(result.validation == nil)
  }

  @Test("a SoftDevice without a loader cannot be read back")
  func softDeviceAlone() throws {
    let ending = try Self.flash(try Self.installer(withLoader: false), onto: Self.settings)
    let result = try ending.outcome.get()
    #expect(result.outcome == .flashed && result.proof == .bootloader && result.awaitsApplication)
  }

  @Test(
    "a device without a firmware loader receives no installer",
    arguments: ["smp?slot=64K", "smp?slot=64K&mode=single", "smp?slot=64K&bootinfo=no"])
  func anotherKindOfDevice(_ settings: String) throws {
    let ending = try Self.flash(try Self.installer(), onto: settings)
    guard case .failure(.declined(.prepare, let refusal)) = ending.outcome else {
      throw Mismatch(ending.outcome)
    }
    #expect(refusal.code == "installer" && !ending.steps.contains("upload"))
  }

  @Test(
    "if the link is lost at any PDU of either stage, the application still runs at the end",
    arguments: Array(stride(from: 3, through: 320, by: 11)))
  func cutInStages(pdu: Int) throws {
    let image = try Self.image()
    let ending = try Self.flash(
      try Self.installer(), image, onto: Self.settings + "&cut-at-pdu=\(pdu)&netbufs=4x384")
    #expect(try ending.outcome.get().proof == .readBack)
    #expect(ending.running == image.bytes)
  }

  /// If the previous loader answers, nothing was installed. If the installer is still listed, it
  /// has not run, because the header of an installer is cleared when it has run.
  @Test func anotherLoaderThanTheInstalledLoaderIsNotASuccess() throws {
    let installer = try Self.installer()
    func agreement(_ slots: [SMPImage.Slot]) -> RunningImage.Agreement {
      SMPImage.State(slots: slots, splitStatus: 0).loaderAgreement(with: installer)
    }
    let hash = try #require(try Self.loader().hash?.bytes)
    let loader = SMPImage.Slot(
      image: nil, slot: 1, version: "1.4.0", hash: hash, flags: [.active, .bootable])
    var former = loader
    former.hash = [UInt8](repeating: 1, count: 32)
    let left = SMPImage.Slot(
      image: nil, slot: 0, version: "2.0.0", hash: installer.mcuboot?.hash?.bytes, flags: [])
    #expect(agreement([loader]) == .same)
    #expect(agreement([former]) == .different)
    #expect(agreement([left, loader]) == .different, "it has not run yet")
    #expect(agreement([]) == .different)
  }
}
