import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import Synchronization

/// The time in a run, robust against changes of the machine's clock.
///
/// - Records and waits use a time that never goes back: the wall clock, or, while the wall clock
///   shows less, the highest earlier time plus the elapsed time.
/// - Windows are times of day, and use the wall clock.
final class RunClock: Sendable {
  private struct Point {
    let time: WallClockTime
    let instant: LinkInstant

    func time(at instant: LinkInstant) -> WallClockTime {
      time.advanced(by: self.instant.duration(to: instant))
    }
  }

  private let clock: any LinkClock
  private let wallTime: @Sendable () -> WallClockTime
  private let latest: Mutex<Point>

  /// - Parameter last: the time of the last record; no time of this clock is earlier.
  init(_ environment: FleetEnvironment, after last: WallClockTime) {
    clock = environment.clock
    wallTime = environment.wall
    latest = Mutex(Point(time: max(wallTime(), last), instant: clock.now))
  }

  /// The wall-clock time, for transfer windows.
  var wall: WallClockTime { wallTime() }

  /// The time for all other purposes.
  var now: WallClockTime {
    latest.withLock { latest in
      let (wall, instant) = (wallTime(), clock.now)
      let time = latest.time(at: instant)
      if wall > time { latest = Point(time: wall, instant: instant) }
      return max(wall, time)
    }
  }
}
