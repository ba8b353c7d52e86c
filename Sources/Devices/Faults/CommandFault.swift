import OtaflashBlueZ
import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

/// A failure of a command.
package enum CommandFault: Error {
  case usage(message: String, command: String)
  case image(ImageFileFault)
  /// A file other than the image that cannot be read.
  case file(FileFault)
  case checksumDiffers(name: String, wanted: UInt32, found: UInt32)
  /// An image with a wrong hash, or without the required signature.
  case unproved(name: String, PartFault)
  /// A file that does not contain firmware.
  case notFirmware(name: String, ForeignContent)
  /// A patch in place of an image; without a path, in place of the run's image.
  case patchFile(name: String, path: String? = nil, PatchFile)
  /// An invalid file for `--patch`.
  case readyPatch(path: String, PrebuiltPatchFault)
  /// An image without a known version, without known hardware, or without both.
  case identityUnknown(name: String, version: Bool, hardware: Bool)
  /// An image that no protocol of the device supports, and the content of its file.
  case imageNotTaken(by: [UpdateProtocol], FirmwarePackage)
  /// An image for a board other than the board of the specified devices.
  case otherBoard(name: String, BoardFault)
  case verificationKey(path: String, VerificationKeyFault)
  case keyFile(KeyFileFault)
  case update(UpdateFault)
  case connect(ConnectFault)
  /// A link that could not be secured.
  case security(SecurityFault)
  /// A failed scan.
  case survey(MgmtFault)
  /// No device advertises a name that matches.
  case noMatch(pattern: String, waited: Duration)
  /// `last` without an earlier connection.
  case noLastDevice
  /// No device was specified, and the user has not chosen a device.
  ///
  /// - Parameters:
  ///   - why: the available devices, or the reason why no device was chosen, as sentences.
  ///   - suggestion: a device that the user may choose.
  case noDeviceNamed(why: String, suggestion: String?)
  /// A word that is not a form of DEVICE or an alias, and the most similar alias.
  case noSuchAlias(String, nearest: String?, mayBeDevice: Bool = true)
  /// An alias that a device cannot have.
  case aliasRefused(String, DeviceAliases.Fault)
  /// A device that no command and no campaign on this host has connected to.
  case unknownDevice(String)
  /// Several devices match; each with address and name.
  case ambiguous(pattern: String, matches: [String])
  case state(StateFault)
  /// Checks of `doctor` that failed.
  ///
  /// - Parameter command: the remedy of the first failed check.
  case unhealthy(failed: Int, command: String)
  /// Checks of `self-test` that failed, by their names.
  case selfTestFailed([String], of: Int)
  case baseline(BaselineFault)
  /// A benchmark was slower than an earlier benchmark; `worst` describes the slowest case.
  case belowBaseline(count: Int, worst: String, wanted: Percentage)
  case stopped
  /// A fault of a simulated device's profile or, with an `errno`, of its flash file.
  case simulation(String, errno: Int32? = nil)
  case output(errno: Int32)
  /// A file that cannot be written.
  case outputFile(OutputFile, OutputFileFault)
  /// A device without the requested console, and its characteristics that send values.
  case noConsole(ConsoleAbsence)
  /// A fault of the project file.
  case project(ProjectFile.Fault)
  /// Too few resources to start.
  case shortage(ResourceShortage)
  /// This program was built without campaigns.
  case withoutCampaigns
  /// A fault of a campaign. A higher-level target declares these faults.
  case campaign(any ReportedFault)
}

extension CommandFault {
  /// Whether an update connected to the device, or may have connected to it.
  package var reachedDevice: Bool {
    switch self {
    case .update(.couldNotConnect): false
    case .update, .imageNotTaken: true
    default: false
    }
  }
}
