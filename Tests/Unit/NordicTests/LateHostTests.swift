import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashUpdate

/// Tests with timers that fire late, as on a busy host. The flash of a real device does not depend
/// on the host, so the flash of a simulated device must also be independent of the host.
@Suite struct LateHostTests {
  @Test(arguments: [Duration.microseconds(200), .milliseconds(1), .milliseconds(5)], ["50", "51"])
  func aLateProcessCostsNoRestart(_ lateness: Duration, _ seed: String) throws {
    for device in ["nordic-legacy?interval=7.5ms", "nordic-legacy?interval=15ms", "infinitime?"] {
      let outcome = try flash(
        [legacy(firmware(40_000))], onto: "sim:\(device)&seed=\(seed)", late: lateness)
      #expect(try outcome.last.get().outcome == .flashed)
      #expect(outcome.log.rewinds == 0, "\(device)")
    }
  }
}

/// A process that repeatedly gets no CPU time, so that no timer fires.
@Suite struct StalledProcessTests {
  @Test(
    arguments: [Duration.milliseconds(20), .milliseconds(60), .milliseconds(150)], ["50", "51"])
  func aStalledProcessCostsNoRestart(_ stall: Duration, _ seed: String) throws {
    for device in ["nordic-legacy?interval=7.5ms", "nordic-legacy?interval=15ms", "infinitime?"] {
      let outcome = try flash(
        [legacy(firmware(40_000))], onto: "sim:\(device)&seed=\(seed)", stall: stall)
      #expect(try outcome.last.get().outcome == .flashed)
      #expect(outcome.log.rewinds == 0, "\(device)")
    }
  }
}

/// A clock that wakes each sleeper later than requested.
struct LateClock: LinkClock {
  /// The time between the starts of two stalls.
  private static let stallPeriod = Duration.milliseconds(300)

  let base: any LinkClock
  let lateness: Duration
  /// The length of a stall.
  var stall = Duration.zero

  var now: LinkInstant { base.now }
  var minimumResolution: Duration { base.minimumResolution }
  func randomFraction() -> Double { base.randomFraction() }

  func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let wanted = deadline.advanced(by: lateness)
    let periods = Int(wanted.elapsed / Self.stallPeriod)
    let stallEnd = LinkInstant(elapsed: Self.stallPeriod * periods + stall)
    try await base.sleep(until: max(wanted, stallEnd), tolerance: tolerance)
  }
}
