import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// Every way a command can fail.
enum CommandFault: Error {
  case usage(message: String, command: String)
  case image(name: String, FirmwareFault)
  case file(FileFault)
  case keyFile(KeyFileFault)
  case update(UpdateFault)
  case connect(ConnectFault)
  /// No device advertises a name that matches.
  case noMatch(pattern: String, waited: Duration)
  /// Several devices match; each with address and name.
  case ambiguous(pattern: String, matches: [String])
  /// Another run works on this device.
  case deviceLocked(device: String, holder: Int32?)
  case state(StateFault)
  case timeLimit(Duration, resumable: Bool, acknowledged: Int)
  /// Checks of `doctor` that failed.
  case unhealthy(failed: Int)
  /// A simulated device's profile, listening socket or flash file.
  case simulation(String)
  case stopped
  case output(errno: Int32)
}

/// A file that the command line names and that cannot be read.
enum FileFault: Error, Equatable {
  case missing(path: String)
  case unreadable(path: String, errno: Int32)
  case isDirectory(path: String)
}

/// What otaflash keeps on disk and cannot.
enum StateFault: Error, Equatable {
  case cannotWrite(path: String, errno: Int32)
  case damaged(path: String, detail: String)
}
