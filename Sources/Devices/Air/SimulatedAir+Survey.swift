import OtaflashConsole
import OtaflashSimulation

extension SimulatedAir {
  /// The advertising interval of each device.
  private static let interval = Duration.milliseconds(250)
  /// The range of the signal strength, in dB.
  private static let wandering: UInt64 = 5
  /// The last of several devices sends `there` advertisements, and then omits `away`
  /// advertisements, so that it disappears and returns.
  private static let presence = (there: 40, away: 60)

  /// Scans in real time, until the time limit or the cancellation of the task.
  package func survey(
    _ filter: ScanFilter, for limit: Duration, duplicates: Bool,
    found: @Sendable (ScanResult) -> Void
  ) async -> [ScanResult] {
    let end = ContinuousClock.now + limit
    var devices: [ScanResult] = []
    var random = SeededRandom(seed: 1)
    var round = 0
    repeat {
      for (index, station) in stations.enumerated() where isThere(index, in: round) {
        let rssi = station.strength + Int(random.next() % Self.wandering)
        let result = ScanResult(
          simulated: station.id, name: station.name, rssi: rssi, services: station.services)
        guard filter.accepts(result) else { continue }
        let isNew = !devices.contains { $0.id == result.id }
        if isNew { devices.append(result) }
        if isNew || duplicates { found(result) }
      }
      round += 1
      let rest = min(Self.interval, end - ContinuousClock.now)
      guard rest > .zero, await Pause.sleep(for: rest) else { break }
    } while true
    return devices
  }

  private func isThere(_ index: Int, in round: Int) -> Bool {
    guard index > 0, index == stations.count - 1 else { return true }
    return round % (Self.presence.there + Self.presence.away) < Self.presence.there
  }
}
