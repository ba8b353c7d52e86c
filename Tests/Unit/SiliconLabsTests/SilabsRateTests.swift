import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the rate in virtual time, compared with the limits of flash and air.
@Suite struct SilabsRateTests {
  private static let link = "interval=15ms&mtu=247&slot=1M"

  private func rate(_ profile: String) throws -> Double {
    let file = file(200_000)
    let outcome = try update([file], onto: "sim:" + profile)
    #expect(outcome.log.restarts == [])
    return Double(file.count) / (try outcome.last.get().uploadTook / .seconds(1))
  }

  /// 85 ms to erase and 40 ms to write a page of 4 KiB.
  @Test(arguments: ["1M", "2M"])
  func theFlashOfTheLoaderIsAlwaysBusy(_ phy: String) throws {
    let share = try rate("silabs?\(Self.link)&phy=\(phy)&erase=85ms&write=40ms") * 0.125 / 4096
    #expect(share >= 0.9, "\(share)")
  }

  @Test(arguments: ["1M", "2M"])
  func theAirLimitsALoaderWithFastFlash(_ phy: String) throws {
    let text = "silabs?\(Self.link)&phy=\(phy)&erase=0&write=0"
    let limit = try SimulationProfile(parsing: text).radio.eventPackedLimit(mtu: 247)
    let share = try rate(text) / limit
    #expect(share >= 0.9, "\(share) of \(limit) B/s")
  }

  /// Application OTA waits for every response.
  @Test func anApplicationReceivesTheSafePace() throws {
    let rate = try rate("silabs-app-ota?\(Self.link)&phy=2M&erase=0&write=40ms")
    #expect(rate > 25_000, "\(rate)")
  }
}
