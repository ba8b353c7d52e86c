import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

@Suite struct OutputTests {
  private static let style = Style(color: false, unicode: true, columns: 120)

  private static func report() -> DeviceReport {
    var report = DeviceReport(.otaflash, protocolVersion: 1)
    report.runningVersion = FirmwareVersion(1, 2, 0)
    return report
  }

  private static let link = LinkReport(mtu: 498, phy: .le2M, connectionInterval: .milliseconds(15))

  @Test func theBarShowsResumeRateAirAndRemainingTime() {
    var transcript = HumanTranscript(
      device: "door-01", targetVersion: "1.3.0", progress: .bar, style: Self.style,
      airLimit: { _ in 160_000 })
    #expect(transcript.observe(.connected(Self.link), at: .zero) == [])
    #expect(
      transcript.observe(.device(Self.report()), at: .zero)
        == [.line("door-01  1.2.0 → 1.3.0   MTU 498 · 2M · 15 ms")])
    #expect(
      transcript.observe(.stageEnded(.connect, took: .milliseconds(800)), at: .seconds(1))
        == [.transient("  ✓ connect 0.8 s")])
    let began = transcript.observe(
      .transferBegan(offset: 100_000, total: 200_000, resumed: true), at: .seconds(1))
    #expect(began.first == .line("  ✓ connect 0.8 s   ✓ resume from 100,000"))
    let half = transcript.observe(
      .progress(acknowledged: 132_000, total: 200_000), at: .seconds(2))
    guard case .transient(let line) = half.first else {
      Issue.record("nothing drawn")
      return
    }
    #expect(line.text.hasPrefix("  upload  ╍"))
    #expect(line.text.hasSuffix("66%  132/200 kB  32.0 kB/s  20% of the air limit  ETA 0:03"))
    // Redraws are at least 100 ms apart.
    #expect(
      transcript.observe(.progress(acknowledged: 140_000, total: 200_000), at: .milliseconds(2050))
        == [])
    guard case .transient(let stalled) = transcript.tick(at: .milliseconds(10_100)).first else {
      Issue.record("nothing drawn")
      return
    }
    #expect(stalled.text.hasSuffix("stalled 8s"))
  }

  @Test func aVersionThatIsNotReportedIsUnknown() {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    let report = DeviceReport(.nordicSecure, protocolVersion: 1)
    #expect(transcript.observe(.device(report), at: .zero) == [.line("d  version unknown")])
  }

  @Test func aSuccessNamesItsVerificationAndOmitsRatesOfInstantUploads() {
    var result = UpdateResult(
      outcome: .flashed, from: nil, to: FirmwareVersion(1, 3, 0), proof: .readBack,
      took: .seconds(4), bytesSent: 100_000, uploadTook: .seconds(2), resumes: 1)
    #expect(
      result.sentence(in: .plain)
        == "done    running 1.3.0, verified, in 4.0 s (upload 2.0 s, 50.0 kB/s, 1 resume)")
    (result.proof, result.uploadTook, result.resumes) = (.bootloader, .milliseconds(99), 0)
    #expect(
      result.sentence(in: .plain) == """
        done    running 1.3.0 (checked by the bootloader; no versions to compare), \
        in 4.0 s (upload 0.1 s)
        """)
  }

  /// Uploads of two seconds: the bytes, the mode, the waits for the device and for its flash in
  /// seconds, and the limit in the message.
  private static let heldBack: [(bytes: Int, WriteMode, device: Double, flash: Double, String)] = [
    (66_000, .auto, 1.5, 1.4, "device's flash"), (66_000, .auto, 1.5, 0.2, "window"),
    (340_000, .auto, 1.5, 1.4, "air"), (66_000, .withoutResponse, 0, 0, "air"),
    (32_000, .withResponse, 0, 0, "connection interval"),
    (32_000, .withResponse, 1.5, 1.4, "device's flash"),
  ]

  @Test(arguments: heldBack)
  func theLimitOfAnUploadIsNamed(
    _ bytes: Int, _ mode: WriteMode, _ device: Double, _ flash: Double, _ words: String
  ) {
    var result = UpdateResult(
      outcome: .flashed, from: nil, to: FirmwareVersion(1, 3, 0), proof: .readBack,
      took: .seconds(4), bytesSent: bytes, uploadTook: .seconds(2), resumes: 0)
    var waits = TransferWaits()
    (waits.device, waits.flash) = (.seconds(device), .seconds(flash))
    var link = LinkReport(mtu: 498, phy: .le2M, connectionInterval: .milliseconds(15))
    result.flow = TransferFlow(mode: mode, link: link, waits: waits)
    #expect(result.sentence(in: .plain).text.hasSuffix(", limited by the \(words))"))
    link.connectionInterval = nil
    result.flow = TransferFlow(mode: mode, link: link, waits: TransferWaits())
    #expect(result.bottleneck == .host)
  }

  @Test func plainProgressIsTenPercentOrFiveSecondsWhicheverIsLater() {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    #expect(
      transcript.observe(.transferBegan(offset: 0, total: 100_000, resumed: false), at: .zero)
        == [.line("  upload  0%  0/100 kB")])
    func lines(_ done: Int, _ seconds: Int) -> Int {
      transcript.observe(.progress(acknowledged: done, total: 100_000), at: .seconds(seconds)).count
    }
    #expect(lines(50_000, 1) == 0)
    #expect(lines(51_000, 5) == 1)
    #expect(lines(55_000, 11) == 0)
    #expect(lines(61_000, 12) == 1)
  }

  /// In kilobytes, the display for a small image would be "0/0 kB" during the complete transfer.
  @Test(arguments: [(500, "0/500 B"), (9999, "0/9,999 B"), (10_000, "0/10 kB")])
  func aSmallImageIsCountedInBytes(_ size: Int, _ amount: String) {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    #expect(
      transcript.observe(.transferBegan(offset: 0, total: size, resumed: false), at: .zero)
        == [.line("  upload  0%  \(amount)")])
  }

  @Test func aRetryHasOneNumber() {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    let lost = UpdateEvent.linkLost(
      reason: "The adapter is gone.", acknowledged: 4096, attempt: 1, retryIn: .milliseconds(500))
    #expect(
      transcript.observe(lost, at: .zero)
        == [.line("  link lost at 4,096: The adapter is gone; retry 1 in 0.5 s")])
    #expect(
      transcript.observe(.connecting(attempt: 2), at: .zero)
        == [.line("  connecting again (retry 1)")])
  }

  /// A restart that otaflash requested is not a lost link.
  @Test func aRequestedRestartIsReportedAsARestart() {
    var transcript = HumanTranscript(
      device: "d", targetVersion: nil, progress: .plain, style: .plain)
    let restarted = UpdateEvent.restarted(
      because: "it had dropped packets", attempt: 1, retryIn: .milliseconds(500))
    #expect(
      transcript.observe(restarted, at: .zero) == [
        .line(
          "  the device was restarted because it had dropped packets; retry 1 in 0.5 s")
      ])
    var stream = UpdateLines()
    #expect(
      stream.observe(restarted, of: "d", at: .zero) == [
        #"{"v":1,"seq":0,"type":"link","event":"restarted","reason":"it had dropped packets","#
          + #""attempt":1,"retry_in_ms":500,"device":"d"}"#
      ])
  }

  @Test func aStreamHasNoGapsAndClosesItsTasks() {
    var stream = UpdateLines()
    let lost = UpdateEvent.linkLost(
      reason: "x", acknowledged: 4096, attempt: 1, retryIn: .milliseconds(500))
    var lines = [stream.line("hello", ["command": "flash"])]
    lines += stream.observe(
      .transferBegan(offset: 0, total: 8192, resumed: false), of: "d", at: .zero)
    lines += stream.observe(lost, of: "d", at: .seconds(1))
    lines += stream.observe(.stageBegan(.reconnect), of: "d", at: .seconds(1))
    lines += stream.observe(.stageBegan(.connect), of: "d", at: .seconds(1))
    lines += stream.endAll(ok: false, at: .seconds(2))
    lines.append(stream.line("result", ["exit": 75]))
    #expect(
      lines == [
        #"{"v":1,"seq":0,"type":"hello","command":"flash"}"#,
        #"{"v":1,"seq":1,"type":"task_begin","task":"upload","device":"d","total":8192,"offset":0,"#
          + #""resumed":false}"#,
        #"{"v":1,"seq":2,"type":"task_end","task":"upload","ok":false,"bytes":0,"ms":1000,"device":"d"}"#,
        #"{"v":1,"seq":3,"type":"link","event":"lost","reason":"x","offset":4096,"attempt":1,"#
          + #""retry_in_ms":500,"device":"d"}"#,
        #"{"v":1,"seq":4,"type":"task_begin","task":"reconnect","device":"d"}"#,
        #"{"v":1,"seq":5,"type":"task_begin","task":"connect","device":"d"}"#,
        #"{"v":1,"seq":6,"type":"task_end","task":"connect","ok":false,"ms":1000,"device":"d"}"#,
        #"{"v":1,"seq":7,"type":"task_end","task":"reconnect","ok":false,"ms":1000,"device":"d"}"#,
        #"{"v":1,"seq":8,"type":"result","exit":75}"#,
      ])
  }

  @Test func connectionsAndPDUsAreOneLineEach() {
    let sent = TracingLink.Crossing(
      direction: .sent, instant: LinkInstant(elapsed: .microseconds(1_500_250)),
      pdu: [0x12, 0x10, 0x00, 1, 2, 3])
    let start = LinkInstant(elapsed: .seconds(1))
    #expect(
      ConnectionLog.line(sent, since: start, in: Self.style)
        == "  0.500250 → WriteRequest 0x0010 3 bytes")
    let malformed = TracingLink.Crossing(direction: .received, instant: start, pdu: [0x0A, 0x01])
    #expect(
      ConnectionLog.line(malformed, since: start, in: .plain)
        .hasPrefix("  0.000000 <- malformed, 2 bytes: 0a 01 ("))
    let lost = ConnectionTransition(
      from: .ready, to: .idle, failure: .gatt(.linkLost(.closedByPeer)))
    #expect(
      ConnectionLog.line(lost, in: Self.style)
        == "  connection ready → idle: the device ended the connection")
  }

  @Test func theForecastDescribesTheEffectOfFlash() {
    let image = FirmwareImage(
      name: "a.bin", format: .binary, bytes: Array("123456789".utf8),
      version: FirmwareVersion(1, 3, 0), hardware: HardwareID(1))
    var device = Self.report()
    device.hardware = HardwareID(1)
    func forecast() -> String {
      let decision = Result { () throws(UpdateFault) in
        try Preflight.check(image, against: device, options: UpdateOptions())
      }
      return Forecast(
        Inspection.Prospect(image: image, decision: decision), on: device,
        in: FaultReportTests.context
      ).sentence(in: Self.style)
    }
    #expect(forecast() == "send 9 B: 1.2.0 → 1.3.0")
    var held = OTAServiceReport(pageSize: 4096, largestChunk: 244)
    held.resumePoint = OTAServiceReport.ResumePoint(
      imageSize: 9, imageCRC32: 0xCBF4_3926, offset: 4, heldCRC32: 0x9BE3_E0A3)
    device.details = .otaService(held)
    #expect(forecast() == "send the last 5 B of 1.2.0 → 1.3.0")
    held.resumePoint?.heldCRC32 = 0
    device.details = .otaService(held)
    #expect(forecast() == "send 9 B: 1.2.0 → 1.3.0")
    device.hardware = HardwareID(2)
    #expect(forecast().hasPrefix("refuse (E-WRONG-HARDWARE): the image is for hardware"))
    device.hardware = HardwareID(1)
    device.runningVersion = FirmwareVersion(1, 3, 0)
    device.runningCRC32 = 0xCBF4_3926
    #expect(forecast() == "send nothing: the device already runs this image")
  }

  @Test func textIsQuotedForJSON() {
    #expect(JSONValue.string("a\"\\\n\u{1}é").text == #""a\"\\\n\u0001é""#)
    #expect(JSONValue.number(7.5).text == "7.5")
    #expect(JSONValue.number(15).text == "15")
    #expect(JSONValue.number(.infinity).text == "null")
  }

  @Test func numbersAreFormatted() {
    #expect(Text.grouped(266_112) == "266,112")
    #expect(Text.grouped(-1234) == "-1,234")
    #expect(Text.hex(UInt32(0x9f2c_01aa)) == "9f2c01aa")
    #expect(Text.clock(.seconds(3723)) == "1:02:03")
    #expect(Text.table([["a", "", "b"], ["ccc", "d"]]) == ["a       b", "ccc  d"])
  }

  @Test func colorsAndBarsDependOnTheStream() {
    func settings(_ environment: [String: String], terminal: Bool = true) -> OutputSettings {
      OutputSettings(
        in: OutputSettings.Surroundings(
          outputIsTerminal: terminal, errorIsTerminal: terminal, columns: 80,
          environment: environment))
    }
    #expect(settings([:]).progress == .bar)
    #expect(settings([:]).errorStyle.color)
    #expect(!settings(["NO_COLOR": "1"]).errorStyle.color)
    #expect(settings(["NO_COLOR": ""]).errorStyle.color)
    #expect(settings(["TERM": "dumb"]).progress == .plain)
    #expect(settings(["CI": "true"]).progress == .plain)
    #expect(settings([:], terminal: false).progress == .plain)
    #expect(settings(["LC_ALL": "C", "LANG": "de_DE.UTF-8"]).errorStyle.unicode == false)
  }
}
