import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the rate, relative to the limit of the sequence: the erase of all pages after the
/// header, if the device erases them there, and then the slower of air and flash.
@Suite struct OADTimeTests {
  @Test(arguments: [("ti-oad", 244, true), ("ti-oad-mcuboot", 240, false)])
  func theRateIsCloseToTheLimit(_ device: String, _ block: Int, _ erasesFirst: Bool) throws {
    let profile = "sim:\(device)?phy=2M&interval=15ms&mtu=247&slot=256K"
    let image = try oad(128 * 1024, for: device)
    let outcome = try flash(image, onto: profile)
    #expect(try outcome.result.get().isVerified)
    let settings = try SimulationProfile(parsing: profile)
    let size = Double(image.bytes.count)
    let air =
      settings.radio.eventPackedLimit(mtu: block + 3) * Double(block - 4) / Double(block)
    let pages = Double((image.bytes.count + 4095) / 4096)
    let erase = pages * (settings.eraseTime / .seconds(1))
    let write = size / 4096 * (settings.writeTimePer4KiB / .seconds(1))
    let limit = erasesFirst ? erase + max(write, size / air) : max(erase + write, size / air)
    let took = try #require(outcome.log.uploads.last) / .seconds(1)
    #expect(limit / took >= 0.85, "\(limit / took): \(size / took) B/s, \(took) s")
  }

  /// With several blocks in flight, the transfer is more than five times as fast as with one block
  /// at a time.
  @Test func blocksInFlightAreFaster() throws {
    let image = try oad(60_000)
    let many = try flash(image, onto: "sim:ti-oad?erase=0").result.get().uploadTook
    let one = try flash(image, onto: "sim:ti-oad?erase=0") { $0.windowLimit = 1 }.result.get()
      .uploadTook
    #expect(one > many * 5, "\(one) and \(many)")
  }
}
