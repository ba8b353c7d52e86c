import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the throughput in virtual time, compared with the limits of the device and of the air.
@Suite struct ThroughputTests {
  static func rate(_ outcome: NordicOutcome) throws -> Double {
    let result = try outcome.last.get()
    return Double(result.bytesSent) / (result.uploadTook / .seconds(1))
  }

  /// The times of an nRF52: 85 ms to erase a page, 41 µs to write a word. A host that waits 400 ms
  /// per object reaches less than 8 kB/s, and a host that waits for receipts 9 to 10 kB/s.
  @Test(arguments: ["1M", "2M"])
  func theFlashLimitsASecureTransfer(_ phy: String) throws {
    let outcome = try flash(
      [secure(firmware(131_072))],
      onto: "sim:nordic-dfu?mtu=247&interval=15ms&erase=85ms&phy=\(phy)")
    #expect(outcome.log.rewinds == 0)
    let rate = try Self.rate(outcome)
    #expect(rate >= 19_000, "\(rate) B/s")
  }

  /// The waits of Secure DFU and legacy DFU are also measured.
  @Test func theWaitsAreMeasured() throws {
    let secured = try flash(
      [secure(firmware(65_536))],
      onto: "sim:nordic-dfu?mtu=247&interval=15ms&erase=85ms&phy=2M")
    let flow = try #require(try secured.last.get().flow)
    #expect(flow.waits.flash > .seconds(1) && flow.waits.flash <= flow.waits.device)
    #expect(secured.log.all.contains { if case .flowing = $0 { true } else { false } })
    let old = try flash(
      [legacy(firmware(65_536))], onto: "sim:nordic-legacy?mtu=23&interval=15ms&phy=2M")
    #expect(try #require(try old.last.get().flow).mode == .withoutResponse)
  }

  /// The flash is five times as slow as the flash of an nRF52, so no queue can hold the packets
  /// that arrive during a write.
  @Test(arguments: [23, 100, 247])
  func theHostWaitsForASlowFlash(mtu: Int) throws {
    let outcome = try flash(
      [secure(firmware(20_000))],
      onto: "sim:nordic-dfu?mtu=\(mtu)&interval=7.5ms&erase=20ms&write=200ms&phy=2M")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.rewinds <= 3, "\(outcome.log.rewinds) objects were sent again")
  }

  @Test(arguments: ["1M", "2M"])
  func theAirLimitsALegacyTransfer(_ phy: String) throws {
    let profile = "sim:nordic-legacy?mtu=23&interval=15ms&phy=\(phy)"
    let outcome = try flash([legacy(firmware(131_072))], onto: profile)
    let limit = try SimulationProfile(parsing: profile).radio.eventPackedLimit(mtu: 23)
    let share = try Self.rate(outcome) / limit
    #expect(share >= 0.8, "\(share) of \(limit) B/s")
  }

  /// Packets that fill connection events must be at least as fast as the longest packets, and
  /// faster at 1M.
  @Test(arguments: [("1M", "15ms", 1.1), ("2M", "15ms", 1), ("1M", "7.5ms", 1.1)])
  func packetsThatFillEventsAreAtLeastAsFastAsTheLongestPackets(
    _ phy: String, _ interval: String, _ gain: Double
  ) throws {
    let image = try secure(firmware(65_536))
    let profile = "sim:nordic-dfu?mtu=517&interval=\(interval)&erase=0&write=0&phy=\(phy)"
    let filling = try Self.rate(flash([image], onto: profile))
    let longest = try Self.rate(flash([image], onto: profile) { $0.chunk = 512 })
    #expect(filling >= longest * gain, "\(filling) against \(longest) B/s")
  }

  /// Single packet losses do not change the assumed erase time; each loss costs only its object.
  @Test func singleLossesDoNotSlowTheRemainingTransfer() throws {
    let image = try secure(firmware(98_304))
    let profile = "sim:nordic-dfu?mtu=247&interval=15ms&erase=85ms"
    let clean = try flash([image], onto: profile).last.get()
    let outcome = try flash([image], onto: profile) { _ in
    } losing: { number, _ in
      number > 5 && number <= 405 && number.isMultiple(of: 40)
    }
    let result = try outcome.last.get()
    #expect(outcome.log.rewinds == 10)
    let ratio = result.uploadTook / clean.uploadTook
    #expect(ratio < 2, "\(result.uploadTook) against \(clean.uploadTook)")
  }

  /// During a slow erase, the first packet that does not fit the queue is dropped, and the wait is
  /// extended.
  @Test func theWaitAdaptsToALongerErase() throws {
    let outcome = try flash(
      [secure(firmware(98_304))], onto: "sim:nordic-dfu?mtu=247&interval=7.5ms&erase=300ms")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.rewinds <= 8, "\(outcome.log.rewinds)")
  }
}
