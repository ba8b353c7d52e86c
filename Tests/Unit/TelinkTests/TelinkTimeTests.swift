import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the time limit of the device, and of the host's forecast of the transfer time.
@Suite struct TelinkTimeTests {
  private static func forecast(_ outcome: TelinkOutcome, _ image: FirmwareImage) -> Duration? {
    let link = outcome.log.all.lazy.compactMap { event -> LinkReport? in
      if case .connected(let link) = event { link } else { nil }
    }.first
    guard let link, let interval = link.connectionInterval else { return nil }
    let facts = LinkFacts(
      phy: link.phy, connectionInterval: interval, linkLayerPayload: link.linkLayerPayload,
      controllerBuffers: link.controllerBuffers)
    let isExtended = outcome.log.device?.protocolVersion == 2
    let variant = TelinkVariant.ladder(mtu: link.mtu, notifies: isExtended, wanted: nil)[0]
    return TelinkForecast(facts: facts, interval: interval).time(
      of: TelinkWindow(total: image.bytes.count, pduLength: variant.pduLength))
  }

  /// The forecast differs from the measured time by 10 % at most.
  @Test(
    arguments: ["telink?mtu=247", "telink?mtu=23", "telink?mtu=100", "telink-legacy?mtu=23"],
    [
      "interval=7.5ms", "interval=15ms", "interval=30ms", "interval=50ms",
      "interval=15ms&phy=1M", "interval=15ms&ll=27", "interval=30ms&phy=1M&ll=27",
      "interval=15ms&buffers=4",
    ])
  func theForecastIsAccurate(_ device: String, _ link: String) throws {
    let image = try telink(device == "telink?mtu=247" ? 60_000 : 20_000)
    let outcome = try flash(image, onto: "sim:\(device)&\(link)&total=300s") {
      $0.telink.timeLimit = .seconds(300)
    }
    let took = try outcome.result.get().uploadTook
    let expected = try #require(Self.forecast(outcome, image))
    let ratio = expected / took
    #expect((0.9...1.1).contains(ratio), "\(expected) instead of \(took)")
  }

  @Test(arguments: ["telink-legacy?mtu=23&interval=100ms", "telink?mtu=23&interval=100ms&phy=1M"])
  func aTransferThatWouldTakeTooLongIsRefusedBeforeTheFirstByte(_ device: String) throws {
    let outcome = try flash(try telink(200_000), onto: "sim:" + device)
    guard case .failure(.declined(.prepare, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "time limit" && refusal.remedy != nil)
    #expect(refusal.meaning.contains("ends every transfer after 30 s"), "\(refusal.meaning)")
    #expect(outcome.log.writes.isEmpty && outcome.counters.dataBytes == 0)
  }

  /// A product with a longer limit receives the same image.
  @Test func theLimitOfTheProductCanBeStated() throws {
    let image = try telink(90_000)
    let device = "sim:telink-legacy?mtu=23&interval=100ms&total=180s&packet=15s&slot=128K"
    let refused = try flash(image, onto: device)
    #expect(throws: UpdateFault.self) { try refused.result.get() }
    let outcome = try flash(image, onto: device) { $0.telink.timeLimit = .seconds(180) }
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes)
  }

  /// The device ends a transfer that exceeds its limit, even if the host does not know the limit.
  @Test(arguments: ["telink", "telink?pdu=80"])
  func anExceededLimitIsReported(_ device: String) throws {
    let query = device.contains("?") ? "&" : "?"
    let outcome = try flash(
      try telink(60_000), onto: "sim:\(device)\(query)interval=30ms&total=500ms")
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 13")
  }

  // MARK: The rate

  /// The rate relative to the slower of the air, for packets of this size, and the flash.
  @Test(arguments: [("telink", 240), ("telink?pdu=80", 80), ("telink-legacy", 16)])
  func theRateIsLimitedByAirOrFlash(_ device: String, _ length: Int) throws {
    let query = device.contains("?") ? "&" : "?"
    let profile = "sim:\(device)\(query)phy=2M&interval=15ms&mtu=247&slot=252K"
    let outcome = try flash(try telink(length == 16 ? 64_000 : 128_000), onto: profile)
    let result = try outcome.result.get()
    let radio = try SimulationProfile(parsing: profile).radio
    let air = radio.eventPackedLimit(mtu: length + 7) * Double(length) / Double(length + 4)
    let flash = try 4096 / (SimulationProfile(parsing: profile).writeTimePer4KiB / .seconds(1))
    let last = outcome.log.uploads.last ?? .zero
    let rate =
      Double(try telink(length == 16 ? 64_000 : 128_000).bytes.count) / (last / .seconds(1))
    let share = rate / min(air, flash)
    #expect(share >= 0.9, "\(share): \(rate) of \(air) B/s, \(result.uploadTook)")
  }

  // MARK: The window

  @Test func theStretchesGrowFrom8To32() throws {
    var window = TelinkWindow(total: 16 * 1000, pduLength: 16)
    var stretches: [Int] = []
    for _ in 0..<5 {
      while window.sendable != nil { window.didSend() }
      #expect(window.isQuestionDue)
      window.didAsk()
      stretches.append(window.stretch)
      window.answered()
    }
    #expect(stretches == [8, 16, 32, 32, 32])
  }

  @Test func atMostTwoStretchesAreUnconfirmed() {
    var window = TelinkWindow(total: 16 * 1000, pduLength: 16)
    var most = 0
    for step in 0..<2000 {
      if window.isQuestionDue { window.didAsk() }
      if window.sendable != nil { window.didSend() } else if step % 7 == 0 { window.answered() }
      most = max(most, window.sent - window.confirmed)
    }
    #expect(most <= 2 * TelinkWindow.longest && most > TelinkWindow.longest)
  }

  @Test func lossesAndTheCallersLimitSlowTheTransfer() {
    #expect(TelinkWindow(total: 160, pduLength: 16, losses: 1).stretchMaximum == 16)
    #expect(TelinkWindow(total: 160, pduLength: 16, losses: 3).isStopAndWait)
    #expect(TelinkWindow(total: 160, pduLength: 16, limit: 320).stretchMaximum == 10)
    #expect(TelinkWindow(total: 160, pduLength: 16, limit: 1).stretchMaximum == 1)
  }

  /// Reports of progress replace the queries of the host.
  @Test func reportsOfProgressOpenTheWindow() throws {
    let image = try telink(60_000)
    let asked = try flash(image, onto: "sim:telink")
    let reported = try flash(image, onto: "sim:telink?schedule=pdus&schedule-every=4")
    #expect(try reported.result.get().proof == .version)
    #expect(reported.counters.pdus - reported.counters.dataWrites > 0)
    #expect(try reported.result.get().uploadTook <= asked.result.get().uploadTook * 1.1)
  }

  @Test func moreReportedPacketsThanSentAreAViolation() {
    var window = TelinkWindow(total: 160, pduLength: 16)
    window.didSend()
    let isPossible = window.reported(pdus: 2)
    #expect(!isPossible && window.confirmed == 0)
  }
}
