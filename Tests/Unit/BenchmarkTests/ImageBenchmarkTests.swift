import OtaflashDelta
import OtaflashFirmware
import OtaflashSampleFirmware
import OtaflashSimulation
import OtaflashUpdate
import Testing

@testable import OtaflashBench
@testable import OtaflashDevices
@testable import otaflash

/// The rows of `otaflash bench --image` for a release, in virtual time.
private struct Gain {
  let rows: [ImageRow]

  func row(_ content: Delivery.Content) throws -> ImageRow {
    try #require(rows.first { $0.content == content })
  }

  init(
    _ profile: String, _ release: RelinkedFirmware, mtu: Int = 247, mode: WriteMode = .auto,
    isPredicted: Bool = false
  ) throws {
    let profile = try SimulationProfile(parsing: profile)
    var setting = LinkBenchmark.Setting()
    setting.mode = mode
    setting.mtu = mtu
    setting.size = 32 * 1024
    setting.asksForDecoder = true
    let link = try BenchmarkSweep(key: nil)
      .measure(BenchmarkSweep.Case(setting: setting), inVirtualTime: profile)
    let pair = ImagePair(old: Self.image(release.old), new: Self.image(release.new))
    let receiver = link.typical.receiver
    let benchmark =
      isPredicted
      ? ImageBenchmark(pair, to: receiver, flash: ImageBenchmark.FlashTimes(of: profile))
      : try ImageBenchmark(pair, on: profile, reporting: receiver, key: nil)
    rows = try benchmark.rows(over: link, to: isPredicted ? nil : profile)
  }

  static func image(_ bytes: [UInt8]) -> FirmwareImage {
    FirmwareImage(
      name: "app.bin", format: .binary, bytes: bytes, version: nil, hardware: nil)
  }
}

@Suite struct ImageBenchmarkTests {
  private static let release = RelinkedFirmware(size: 160 * 1024, changing: 0.07)
  private static let slow = "sim:?phy=1M&interval=40ms&buffers=1&erase-ahead=yes"

  /// The slow link of docs/performance.md, with a smaller image, for which the start and the end
  /// are a larger share of the time. The patch is so small that the device's flash is the limit.
  @Test func aReleaseIsFourteenTimesAsFastOverASlowLink() throws {
    let gain = try Gain(Self.slow, Self.release)
    let patch = try gain.row(.difference)
    #expect(Double(patch.bytes) / Double(patch.imageSize) < 0.05)
    #expect(patch.gain >= 14, "\(patch.gain)")
    #expect(patch.limitShare > 0.85 && patch.limitShare < 1.02, "\(patch.limitShare)")
    #expect(patch.bottleneck == .deviceFlash && !patch.isPredicted)
    #expect(try gain.row(.plain).gain == 1)
    #expect(try gain.row(.compressed).gain > 1.1)
  }

  @Test func overASlowerLinkTheAirIsTheLimit() throws {
    let link = "sim:?phy=1M&interval=100ms&buffers=1&erase-ahead=yes"
    let patch = try Gain(link, Self.release).row(.difference)
    #expect(patch.bottleneck == .connectionInterval)
    #expect(patch.limitShare > 0.65 && patch.limitShare < 1.02, "\(patch.limitShare)")
  }

  @Test(arguments: ["phy=1M&interval=50ms&buffers=4", "phy=2M&interval=20ms&buffers=5"])
  func overFastLinksTheFlashIsTheLimit(_ link: String) throws {
    let patch = try Gain("sim:?erase-ahead=yes&\(link)", Self.release).row(.difference)
    #expect(patch.bottleneck == .deviceFlash)
    #expect(patch.flashRate == 102_400)
    #expect(patch.limitShare > 0.9 && patch.limitShare < 1.02, "\(patch.limitShare)")
  }

  @Test func aChangedVersionStringIsThirtyTimesAsFast() throws {
    let change = RelinkedFirmware(size: 64 * 1024, changing: 0)
    let gain = try Gain("sim:?erase-ahead=yes", change, mtu: 23, mode: .withResponse)
    #expect(try gain.row(.difference).gain >= 30)
  }

  /// The prediction for real devices must agree with the measurement of a simulated device.
  @Test(arguments: [Self.slow, "sim:?phy=2M&interval=15ms", "sim:?phy=1M&interval=50ms&buffers=4"])
  func thePredictionAgreesWithTheMeasurement(_ profile: String) throws {
    let measured = try Gain(profile, Self.release)
    let predicted = try Gain(profile, Self.release, isPredicted: true)
    #expect(predicted.rows.map(\.content) == measured.rows.map(\.content))
    for (one, other) in zip(predicted.rows, measured.rows) {
      #expect(one.isPredicted && !other.isPredicted)
      let ratio = one.seconds / other.seconds
      #expect(ratio > 0.9 && ratio < 1.1, "\(one.content) on \(profile): \(ratio)")
    }
  }

  /// If the slot holds an image like the old image, a device that keeps pages writes few pages.
  @Test func pagesThatDoNotChangeTakeNoFlashTime() throws {
    let change = RelinkedFirmware(size: 160 * 1024, changing: 0)
    let link = "sim:?phy=2M&interval=15ms&keep-pages="
    let all = try Gain(link + "no", change).row(.difference)
    let kept = try Gain(link + "yes", change).row(.difference)
    #expect(kept.seconds < all.seconds / 4, "\(kept.seconds) and \(all.seconds) s")
    #expect(kept.limitShare < 1.02)
    let predicted = try Gain(link + "yes", change, isPredicted: true).row(.difference)
    #expect(abs(predicted.seconds - kept.seconds) < 0.5, "\(predicted.seconds), \(kept.seconds)")
  }

  /// The costs of MCUboot for an image of 320 kB: twice 79 pages of 125 ms for a swap.
  @Test func theCostsOfTheBootloaderFollowFromTheFlash() throws {
    let body = (0..<320_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    let bytes = SampleImage.mcuboot(body, version: FirmwareVersion(1, 0, 0))
    let image = try #require(FirmwarePackage.decode(name: "app.bin", bytes: bytes).parts.first)
    let costs = try #require(BootloaderCosts(of: image, pageSize: 4096))
    #expect(costs.pages == (bytes.count + 4095) / 4096)
    #expect(abs(costs.swapSeconds(erase: 0.085, write: 0.04) - Double(costs.pages) * 0.25) < 1e-9)
    #expect(costs.overwriteSeconds(erase: 0.085, write: 0.04) * 2 > 19)
    #expect(costs.compressedSize <= costs.size)
    #expect(BootloaderCosts(of: Gain.image(bytes), pageSize: 4096) == nil)
  }

  @Test func aDeviceWithoutPatchesReceivesImages() throws {
    let rows = try Gain("sim:?delta=no", Self.release).rows
    #expect(rows.map(\.content) == [.plain])
  }

  @Test func thePlotHasALineForEachDeliveryAndForTheFlash() throws {
    let rows = try Gain(Self.slow, Self.release).rows
    let plot = ImagePlot(title: "otaflash bench -d sim:", rows: rows).document
    let check = XMLCheck(plot)
    #expect(check.isWellFormed && check.count(of: "polyline") == 4)
    for text in [
      "ATT_MTU in bytes", "kB of image per second", "auto: as it is", "auto: compressed",
      "auto: patch", "- - the flash's limit",
    ] {
      #expect(check.texts.contains(text), "\(text)")
    }
  }
}
