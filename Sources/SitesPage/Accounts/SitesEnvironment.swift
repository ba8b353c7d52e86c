#if Sites
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetHost

/// The clocks of the page. Tests use other clocks.
package struct SitesEnvironment: Sendable {
  /// Returns the time of day, for display.
  package var wall: @Sendable () -> WallClockTime
  /// Returns the time since the start of the computer, for lifetimes and limits.
  package var uptime: @Sendable () -> Duration
  /// Waits; returns `false` if the task was cancelled.
  package var pause: @Sendable (Duration) async -> Bool

  package init(
    wall: @escaping @Sendable () -> WallClockTime = { .now },
    uptime: @escaping @Sendable () -> Duration = { BootTime.elapsed },
    pause: @escaping @Sendable (Duration) async -> Bool = { await Pause.sleep(for: $0) }
  ) {
    self.wall = wall
    self.uptime = uptime
    self.pause = pause
  }
}
#endif
