import OtaflashBlueZ
import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// Every way a command can fail.
enum CommandFault: Error {
  case usage(message: String, command: String)
  case image(ImageFileFault)
  case checksumDiffers(name: String, wanted: UInt32, found: UInt32)
  /// An image that is not what it says, or not by whom it must be.
  case unproved(name: String, PartFault)
  /// An image for other devices than those that were named.
  case otherBoard(name: String, BoardFault)
  case verificationKey(path: String, VerificationKeyFault)
  case keyFile(KeyFileFault)
  case update(UpdateFault)
  case connect(ConnectFault)
  /// A link that was to be secured.
  case security(SecurityFault)
  /// Looking for devices.
  case survey(MgmtFault)
  /// No device advertises a name that matches.
  case noMatch(pattern: String, waited: Duration)
  /// Several devices match; each with address and name.
  case ambiguous(pattern: String, matches: [String])
  case state(StateFault)
  case timeLimit(Duration, resumable: Bool, acknowledged: Int)
  /// Checks of `doctor` that failed.
  case unhealthy(failed: Int)
  case baseline(BaselineFault)
  /// A benchmark was slower than an earlier one; `worst` says which case, as a sentence.
  case belowBaseline(count: Int, worst: String, wanted: Percentage)
  /// The picture of a benchmark.
  case plot(SVGRendererFault)
  case stopped
  /// A simulated device's profile or, with an `errno`, its flash file.
  case simulation(String, errno: Int32? = nil)
  case output(errno: Int32)
  /// The file of `--capture`.
  case capture(path: String, errno: Int32)
}

/// A file that the command line names and that cannot be read.
enum FileFault: Error, Equatable {
  case missing(path: String)
  case unreadable(path: String, errno: Int32)
  case isDirectory(path: String)
}

extension CommandFault {
  /// Something was, or may have been, sent to the device.
  var reachedDevice: Bool {
    switch self {
    case .update(.couldNotConnect): false
    case .update, .timeLimit: true
    default: false
    }
  }
}
