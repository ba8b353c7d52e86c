import OtaflashConsole
import OtaflashSimulation

extension SimulatedAir {
  /// How often each device advertises.
  private static let interval = Duration.milliseconds(250)
  /// How far the strength wanders, in dB.
  private static let wandering: UInt64 = 5
  /// How many advertisements the last of several devices sends, and how many it then leaves out: it
  /// goes away, and comes back.
  private static let presence = (there: 40, away: 60)

  /// Listens on the wall's clock, until the time is up or the task is cancelled.
  package func survey(
    _ filter: ScanFilter, for limit: Duration, duplicates: Bool,
    found: @Sendable (ScanResult) -> Void
  ) async -> [ScanResult] {
    let end = ContinuousClock.now + limit
    var heard: [ScanResult] = []
    var random = SeededRandom(seed: 1)
    var round = 0
    repeat {
      for (index, station) in stations.enumerated() where isThere(index, in: round) {
        let rssi = station.strength + Int(random.next() % Self.wandering)
        let result = ScanResult(
          simulated: station.id, name: station.name, rssi: rssi, services: station.services)
        guard filter.accepts(result) else { continue }
        let isNew = !heard.contains { $0.id == result.id }
        if isNew { heard.append(result) }
        if isNew || duplicates { found(result) }
      }
      round += 1
      let rest = min(Self.interval, end - ContinuousClock.now)
      guard rest > .zero, await Pause.sleep(for: rest) else { break }
    } while true
    return heard
  }

  private func isThere(_ index: Int, in round: Int) -> Bool {
    guard index > 0, index == stations.count - 1 else { return true }
    return round % (Self.presence.there + Self.presence.away) < Self.presence.there
  }
}
