import OtaflashBlueZ
import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

/// Every way a command can fail.
package enum CommandFault: Error {
  case usage(message: String, command: String)
  case image(ImageFileFault)
  /// A file beside the image that cannot be read.
  case file(FileFault)
  case checksumDiffers(name: String, wanted: UInt32, found: UInt32)
  /// An image that is not what it says, or not by whom it must be.
  case unproved(name: String, PartFault)
  /// A file with something else than firmware in it.
  case notFirmware(name: String, ForeignContent)
  /// A patch where an image is wanted; without a path it is the run's image.
  case patchFile(name: String, path: String? = nil, PatchFile)
  /// What was given as a patch for the image.
  case readyPatch(path: String, PrebuiltPatchFault)
  /// An image of which nobody says the version, the hardware, or both.
  case identityUnknown(name: String, version: Bool, hardware: Bool)
  /// An image that none of the device's protocols carries, and what is known of it.
  case imageNotTaken(by: [UpdateProtocol], FirmwarePackage)
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
  /// `last`, and none was connected to.
  case noLastDevice
  /// No device was named, and nobody has chosen one.
  ///
  /// - Parameters:
  ///   - why: which ones there are, or why none was chosen, as sentences.
  ///   - suggestion: what a person may want to name.
  case noDeviceNamed(why: String, suggestion: String?)
  /// A word that is neither a form of DEVICE nor an alias, and the alias that is most like it.
  case noSuchAlias(String, nearest: String?, mayBeDevice: Bool = true)
  /// A device that cannot be called so.
  case aliasRefused(String, DeviceAliases.Fault)
  /// A device that no command and no campaign from here has met.
  case unknownDevice(String)
  /// Several devices match; each with address and name.
  case ambiguous(pattern: String, matches: [String])
  case state(StateFault)
  /// Checks of `doctor` that failed.
  ///
  /// - Parameter command: what mends the first of them.
  case unhealthy(failed: Int, command: String)
  /// Checks of `self-test` that failed, by their names.
  case selfTestFailed([String], of: Int)
  case baseline(BaselineFault)
  /// A benchmark was slower than an earlier one; `worst` says which case, as a sentence.
  case belowBaseline(count: Int, worst: String, wanted: Percentage)
  case stopped
  /// A simulated device's profile or, with an `errno`, its flash file.
  case simulation(String, errno: Int32? = nil)
  case output(errno: Int32)
  /// A file that was to be written.
  case outputFile(OutputFile, OutputFileFault)
  /// Too little to start with.
  case shortage(ResourceShortage)
  /// This program was built without campaigns.
  case withoutCampaigns
  /// A campaign, whose faults a target above this one declares.
  case campaign(any ReportedFault)
}

extension CommandFault {
  /// Something was, or may have been, sent to the device.
  package var reachedDevice: Bool {
    switch self {
    case .update(.couldNotConnect): false
    case .update, .imageNotTaken: true
    default: false
    }
  }
}
