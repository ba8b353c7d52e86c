import OtaflashFirmware
import OtaflashSampleFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the waits of an upload, which show whether the link, the window or the flash limits
/// the rate.
@Suite struct LimitTests {
  private static let release = RelinkedFirmware(size: 64 * 1024, changing: 0.07)

  private static func image(_ bytes: [UInt8], _ patch: UInt16) -> FirmwareImage {
    FirmwareImage(
      name: "app.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 3, patch),
      hardware: HardwareID(0xA001))
  }

  /// The waits of an update by a patch, or by the complete image, as shares of the upload's time.
  private func shares(
    _ profile: String, patch: Bool
  ) throws -> (device: Double, flash: Double, patch: Bool) {
    let old = Self.image(Self.release.old, 0)
    let storage = FlashMemory(size: try SimulationProfile(parsing: profile).flashSize)
    _ = try flash(old, onto: "fast", storage: storage).outcome.get()
    let result = try flash(Self.image(Self.release.new, 1), onto: profile, storage: storage) {
      $0.patches.policy = patch ? .require : .never
      $0.patches.bases = BaseFinder { _ in old.bytes }
    }.outcome.get()
    let waits = try #require(result.flow?.waits)
    let took = result.uploadTook / .seconds(1)
    return (waits.device / .seconds(1) / took, waits.flash / .seconds(1) / took, patch)
  }

  /// A window does not limit the rate if its bytes need many connection events.
  @Test(arguments: ["plain", "fast"], [true, false])
  func aSlowLinkIsTheLimit(_ device: String, _ patch: Bool) throws {
    let found = try shares("\(device)?interval=40ms&phy=1M&buffers=1", patch: patch)
    #expect(found.device < 0.2, "\(found)")
    #expect(found.flash < 0.1, "\(found)")
  }

  @Test(arguments: [true, false])
  func aSlowFlashIsTheLimit(_ patch: Bool) throws {
    let found = try shares("plain?interval=15ms&phy=2M&ring=2K", patch: patch)
    #expect(found.flash > 0.3 && found.flash > found.device / 2, "\(found)")
  }

  /// Flash without delays does not limit the rate, even though a patch is durable only in parts.
  @Test(arguments: [true, false])
  func flashWithoutDelaysIsNotTheLimit(_ patch: Bool) throws {
    let found = try shares("fast?interval=15ms&phy=2M&ring=8K", patch: patch)
    #expect(found.flash < 0.1, "\(found)")
  }

  /// A window limits the rate if its bytes fit one connection event.
  @Test func aSmallWindowIsTheLimit() throws {
    let found = try shares("fast?interval=30ms&phy=2M&ring=2K", patch: false)
    #expect(found.device > 0.5 && found.flash < 0.1, "\(found)")
  }
}
