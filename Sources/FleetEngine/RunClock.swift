import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import Synchronization

/// What time it is in a run, when the machine's clock is put on or back.
///
/// - What is recorded, and what is waited for, goes by a time that never goes back: by the wall's
///   clock, and while that shows less than was recorded, by the time that passes.
/// - Claims end by the time that passes alone: nobody loses his because a clock was put on.
/// - Windows are times of day: the wall's clock itself.
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
  private let beginning: Point
  private let latest: Mutex<Point>

  /// - Parameter last: what was recorded before; no time of this clock is earlier.
  init(_ environment: FleetEnvironment, after last: WallClockTime) {
    clock = environment.clock
    wallTime = environment.wall
    beginning = Point(time: max(wallTime(), last), instant: clock.now)
    latest = Mutex(beginning)
  }

  /// For windows.
  var wall: WallClockTime { wallTime() }

  /// For claims.
  var passed: WallClockTime { beginning.time(at: clock.now) }

  /// For all else.
  var now: WallClockTime {
    latest.withLock { latest in
      let (wall, instant) = (wallTime(), clock.now)
      let time = latest.time(at: instant)
      if wall > time { latest = Point(time: wall, instant: instant) }
      return max(wall, time)
    }
  }
}
