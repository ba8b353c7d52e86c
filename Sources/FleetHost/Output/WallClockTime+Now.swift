#if Fleet
import OtaflashConsole
import OtaflashFleet

extension WallClockTime {
  /// The current time of the wall clock.
  package static var now: WallClockTime {
    WallClockTime(milliseconds: Int64(Timestamp.secondsSince1970() * 1000))
  }

  package var text: String { Timestamp.text(milliseconds: Int(milliseconds)) }
}
#endif
