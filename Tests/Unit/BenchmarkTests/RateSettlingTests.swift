import OtaflashSimulation
import Testing

@testable import OtaflashDevices
@testable import OtaflashUpdate
@testable import otaflash

@Suite struct RateSettlingTests {
  /// Sends over a link of `rate` bytes per second; the start and the end of a transfer need `ends`
  /// seconds.
  private func search(
    rate: Double, ends: Double, slotSize: Int = 8 << 20, mode: WriteMode = .withoutResponse
  ) -> (settling: RateSettling, share: Double, transfers: Int) {
    var settling = RateSettling(mode, chunk: 491, slotSize: slotSize)
    var transfers = 0
    while settling.isSearching {
      let seconds = Double(settling.size) / rate + ends
      settling.take(Double(settling.size) / seconds, took: .seconds(seconds))
      transfers += 1
    }
    let seconds = Double(settling.size) / rate + ends
    return (settling, Double(settling.size) / seconds / rate, transfers)
  }

  @Test(arguments: [0.0, 0.01, 0.03, 0.1])
  func theResultIsWithinTwoPercentOfTheLink(_ ends: Double) {
    let found = search(rate: 155_000, ends: ends)
    #expect(found.settling.isSettled)
    #expect(found.share > 0.98, "\(found.share)")
  }

  @Test func aLinkWithoutOverheadNeedsTwoTransfers() {
    #expect(search(rate: 155_000, ends: 0).transfers == 2)
  }

  @Test func theSlotEndsTheSearchAndIsReported() {
    let found = search(rate: 155_000, ends: 0.1, slotSize: 100_000)
    #expect(!found.settling.isSettled)
    #expect(found.settling.size == 100_000)
  }

  @Test func timeEndsTheSearchAndIsReported() {
    let found = search(rate: 5000, ends: 2)
    #expect(!found.settling.isSettled)
    #expect(found.transfers == 1)
  }

  @Test func writesWithResponseNeedNoSearch() {
    let found = search(rate: 16_000, ends: 0.03, mode: .withResponse)
    #expect(found.transfers == 0 && found.settling.isSettled && found.settling.size == 65_536)
    #expect(
      !search(rate: 16_000, ends: 0.03, slotSize: 4096, mode: .withResponse).settling.isSettled)
  }

  /// With a transfer of only 64 KiB the result would be 92 to 94 %.
  @Test(arguments: [
    "sim:fast", "sim:?ring=60K&interval=15ms", "sim:?ring=60K&interval=30ms&phy=1M",
  ])
  func aBenchmarkShowsTheRateOfTheLink(_ profile: String) throws {
    let found = try measure(profile) { $0.mode = .withoutResponse }
    let model = try SimulationProfile(parsing: profile).radio
    let limit = LinkLimit(model).bytesPerSecond(.withoutResponse, mtu: 512)
    let share = found[0].bytesPerSecond / limit
    #expect(share > 0.95 && share < 1, "\(share) with \(found[0].bytes) bytes")
    #expect(found[0].hasSettled == true)
    #expect(try measure(profile) { $0.size = 16 * 1024 }[0].hasSettled == nil)
  }
}
