#if Fleet
import Glibc
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetForecast
import OtaflashGATT
import OtaflashSimulation
import OtaflashState

/// The simulated boards of a campaign. Their flash is stored in the state directory, so that a
/// process that continues a run finds it unchanged.
struct FleetBoards: Sendable {
  let transport: SimulatedFleetTransport
  let clock: any LinkClock
  /// The clock of the boards, which may be faster than the wall clock.
  let wall: @Sendable () -> WallClockTime

  /// - Parameters:
  ///   - run: the run of the boards; another run starts with new boards.
  ///   - last: the time of the run's last event. The clock of the boards starts at this time, or at
  ///     the current time if it is later.
  init(
    _ profile: FleetProfile, of run: String, since last: WallClockTime, in session: Session
  ) throws(CommandFault) {
    let folder = try Self.folder(of: run, in: session)
    let clock = AcceleratedClock(EventLoopClock(), speed: profile.speed)
    let began = (wall: max(WallClockTime.now, last), instant: clock.now)
    wall = { began.wall.advanced(by: began.instant.duration(to: clock.now)) }
    self.clock = clock
    transport = SimulatedFleetTransport(
      SimulatedFleet(profile, clock: clock) { (board, size) throws(FlashFault) in
        try FlashFile(path: "\(folder)/\(board).flash", size: size)
      })
  }

  private static func folder(
    of run: String, in session: Session
  ) throws(CommandFault) -> String {
    let parent = SimulatedDevice.folder(in: try StateStore.open(session).directory)
    for folder in [parent, "\(parent)/fleet-\(run)"] {
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        let failure = errno
        throw .simulation(
          "\(folder) cannot be created: \(SystemError.text(failure))", errno: failure)
      }
    }
    return "\(parent)/fleet-\(run)"
  }
}
#endif
