import OtaflashFirmware
import OtaflashUpdate
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests of the messages about patches, and about the reasons for not sending a patch.
@Suite struct DeliveryOutputTests {
  private static let base = ContentIdentity(size: 130_000, crc32: 0x5121_C8FF)
  private static let patch = DeliveryReport(
    content: .difference(base: base), bytes: 21_912, imageSize: 132_472, isLimitedByFlash: true)

  private func result(_ delivery: DeliveryReport?, made: Int?) -> UpdateResult {
    UpdateResult(
      outcome: .flashed, from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0),
      proof: .readBack, took: .seconds(3), bytesSent: 21_912, uploadTook: .milliseconds(1300),
      resumes: 1, delivery: delivery, bytesMade: made)
  }

  @Test func theDoneLineHasBothRates() {
    let style = Style.plain
    #expect(
      result(Self.patch, made: 132_472).sentence(in: style).text
        == "done    running 1.3.0, verified, in 3.0 s (132,472 B in 1.3 s, 101.9 kB/s, "
        + "21,912 B sent, limited by the device's flash, 1 resume)")
    #expect(
      result(nil, made: nil).sentence(in: style).text
        == "done    running 1.3.0, verified, in 3.0 s (upload 1.3 s, 16.9 kB/s, 1 resume)")
  }

  @Test func aLineNamesTheDeliveryAndItsReason() {
    let obstacle = DeliveryObstacle.patch(
      .otherBase(expected: Self.base, running: ContentIdentity(size: 1, crc32: 0xF49B_0379)))
    let image = DeliveryReport(
      content: .image, bytes: 132_472, imageSize: 132_472, obstacle: obstacle)
    #expect(
      image.sentence
        == "sending the image itself: base 5121c8ff is not the running image (f49b0379)")
    #expect(Self.patch.sentence == "sending 21,912 B for 132,472, a patch against 5121c8ff")
    let compressed = DeliveryReport(
      content: .compressed, bytes: 90_000, imageSize: 132_472,
      obstacle: .patch(.baseUnknown(Self.base)))
    #expect(
      compressed.sentence
        == "sending 90,000 B for 132,472, compressed: the running image "
        + "(130,000 B, CRC32 5121c8ff) is not stored on this host")
  }

  @Test func aPrebuiltPatchThatIsNotSentIsReported() {
    var report = Self.patch
    report.unused = .patch(.givenNotUnderstood("heatshrink 12,8"))
    #expect(
      report.sentence
        == "sending 21,912 B for 132,472, a patch against 5121c8ff; the device has no decoder for "
        + "the given patch (heatshrink 12,8)")
  }

  /// The upload of a patch ends before the device has written the new image.
  @Test func theImageIsCompleteAfterReadback() {
    var result = result(Self.patch, made: 132_472)
    result.verifyTook = .milliseconds(1300)
    #expect(result.imageRate.map { Int($0) } == 50_950)
    #expect(result.sentence(in: .plain).text.contains("(132,472 B in 2.6 s, 51.0 kB/s, 21,912 B"))
  }

  private static func stretch(waiting device: Duration, flash: Duration = .zero) -> UpdateEvent {
    var waits = TransferWaits()
    (waits.device, waits.flash) = (device, flash)
    let link = LinkReport(mtu: 247, phy: .le2M, connectionInterval: .milliseconds(15))
    return .flowing(
      TransferStretch(
        flow: TransferFlow(mode: .withoutResponse, link: link, waits: waits), bytesSent: 30_000,
        took: .seconds(1)))
  }

  @Test(arguments: [
    (stretch(waiting: .zero), "air", "air"),
    (stretch(waiting: .milliseconds(600)), "window", "window"),
    (
      stretch(waiting: .milliseconds(600), flash: .milliseconds(500)), "flash", "device flash"
    ),
  ])
  func theProgressNamesTheLimit(_ event: UpdateEvent, _ short: String, _ name: String) {
    func bar(columns: Int) -> String {
      var transcript = HumanTranscript(
        device: "d", targetVersion: nil, progress: .bar,
        style: Style(color: false, unicode: false, columns: columns))
      _ = transcript.observe(.transferBegan(offset: 0, total: 100_000, resumed: false), at: .zero)
      _ = transcript.observe(event, at: .seconds(1))
      let steps = transcript.observe(
        .progress(acknowledged: 30_000, total: 100_000), at: .seconds(1))
      guard case .transient(let line) = steps.last else { return "" }
      return line.text
    }
    #expect(bar(columns: 120).hasSuffix("  limited by \(short)"))
    // The progress bar takes precedence over the cause.
    let narrow = bar(columns: 66)
    #expect(!narrow.contains("limited by") && narrow.utf8.count <= 66)
    var trace = DeviceTrace(device: "d")
    _ = trace.observe(.transferBegan(offset: 0, total: 100_000, resumed: false), at: .zero)
    #expect(trace.observe(event, at: .seconds(1)).isEmpty)
    let reported = trace.observe(.progress(acknowledged: 30_000, total: 100_000), at: .seconds(1))
    let text = JSONValue.object(reported.first?.members ?? []).text
    #expect(text.contains(#""bottleneck":"\#(name)""#))
  }

  /// The air limit applies to bytes on the air, but the rate counts image bytes.
  @Test func aPatchHasNoShareOfTheAirLimit() {
    func lines(_ report: DeliveryReport?) -> String {
      var transcript = HumanTranscript(
        device: "d", targetVersion: nil, progress: .plain,
        style: .plain, airLimit: { _ in 100_000 })
      var steps = transcript.observe(.connected(LinkReport(mtu: 247)), at: .zero)
      if let report { steps += transcript.observe(.delivery(report), at: .zero) }
      steps += transcript.observe(
        .transferBegan(offset: 0, total: 132_472, resumed: false), at: .zero)
      steps += transcript.observe(
        .progress(acknowledged: 66_236, total: 132_472), at: .seconds(6))
      return steps.map { "\($0)" }.joined()
    }
    #expect(lines(nil).contains("air limit"))
    let patch = lines(Self.patch)
    #expect(!patch.contains("air limit") && patch.contains("a patch against 5121c8ff"))
  }

  /// In the events, the tasks of a patch end before the following tasks start.
  @Test func anAbandonedPatchEndsItsTasks() {
    var trace = DeviceTrace(device: "d")
    _ = trace.observe(.stageBegan(.prepare), at: .zero)
    _ = trace.observe(.transferBegan(offset: 0, total: 9, resumed: false), at: .zero)
    let reported = trace.observe(.deliveryGivenUp(because: .patch(.refused)), at: .seconds(1))
    #expect(reported.map(\.type) == ["task_end", "task_end", "flow"])
  }
}
