#if Fleet
import OtaflashConsole
import OtaflashFleet

/// The rate of the transfers of a run, and the remaining time of the run.
struct RunPace: Sendable {
  /// The minimum number of settled devices for an estimate of the remaining time.
  private static let settledToTell = 3
  /// The interval, in seconds, over which the rate is averaged.
  private static let rateInterval = 2.0

  /// The soak times of the waves, in the order of the waves.
  private let soaks: [Duration]
  /// The start of the display, and the number of devices settled at that time.
  private var start: (at: Duration, settled: Int)?
  private var bytes = 0
  private var last: (at: Duration, bytes: Int, rate: Double)?

  init(soaks: [Duration]) { self.soaks = soaks }

  mutating func observe(_ run: FleetRun, at now: Duration) {
    if start == nil { start = (now, run.settledCount) }
  }

  mutating func acknowledge(_ bytes: Int) { self.bytes += bytes }

  /// Returns the rate of all transfers together over the last seconds, in bytes per second; `nil` =
  /// not measured yet, or zero.
  mutating func rate(at now: Duration) -> Double? {
    guard let last else {
      self.last = (now, bytes, 0)
      return nil
    }
    let seconds = (now - last.at).inSeconds
    guard seconds >= Self.rateInterval else { return last.rate > 0 ? last.rate : nil }
    let rate = Double(bytes - last.bytes) / seconds
    self.last = (now, bytes, rate)
    return rate > 0 ? rate : nil
  }

  /// Returns texts about the remaining time of the wave and of the run, estimated from the rate at
  /// which devices were settled; empty = too few devices were settled, or all waves have passed.
  func estimate(of run: FleetRun, at now: Duration) -> [String] {
    guard let start, let wave = run.currentWave else { return [] }
    let settled = run.settledCount - start.settled
    guard settled >= Self.settledToTell, now > start.at else { return [] }
    let each = (now - start.at) / settled
    let ofWave = run.waves[wave].devices.count - run.waves[wave].tally.settled
    let ofAll = run.devices.count - run.settledCount
    let soak = soaks.dropFirst(wave).reduce(.zero, +)
    let all = "ETA \(Text.clock(each * ofAll + soak))"
    return run.waves.count > 1 && wave < run.waves.count - 1
      ? ["wave \(Text.clock(each * ofWave))", all] : [all]
  }
}
#endif
