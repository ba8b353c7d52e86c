import OtaflashATT
import OtaflashGATT

/// The state of a board that survives resets: the state of the bootloader, and the images. Each
/// board has one firmware, which selects the program of each boot.
protocol BoardFirmware: AnyObject, Sendable {
  /// The address at which the host searches for the device first.
  var address: DeviceAddress { get }
  /// The identity of the image that runs or that the next boot starts.
  var running: SlotImage { get }

  /// Returns the content of the running image in flash; empty if only a bootloader can run.
  func runningImage() throws(FlashFault) -> [UInt8]

  /// Returns the contents of the running images, one for each image of the device; the first is
  /// `runningImage()`.
  func runningImages() throws(FlashFault) -> [[UInt8]]

  /// Runs the bootloader, and returns the program that the bootloader starts.
  ///
  /// - Parameter number: the number of earlier resets.
  func boot(_ number: Int) throws(FlashFault) -> Boot
}

extension BoardFirmware {
  func runningImages() throws(FlashFault) -> [[UInt8]] { [try runningImage()] }
}

/// The result of a boot.
struct Boot: Sendable {
  let program: any BoardProgram
  /// Whether a new image runs for the first time.
  var isActivation = false
  /// The duration of the bootloader's flash operations, in addition to the profile's boot time.
  var flashTime = Duration.zero
}

/// A program that runs from one reset to the next: a server, and a main loop that requests one
/// flash operation at a time. Safe to use from any task.
protocol BoardProgram: AnyObject, Sendable {
  var server: GATTServer { get }
  /// The advertisement of the program.
  var advertisement: Advertisement { get }
  /// The characteristic to which the host writes an image.
  var dataPath: DataPath { get }

  /// Does pending work. Returns the time until the next poll; `nil` = after the next event.
  func poll(at now: LinkInstant) -> Duration?

  /// The flash operation that the program waits for; `nil` = the program waits for no operation.
  var pendingOperation: FlashOperation? { get }

  /// The time that the processor needs, in addition to the time of the flash, before the pending
  /// operation ends.
  var computationTime: Duration { get }

  /// Handles the end of the pending flash operation.
  func flashDone(_ isDone: Bool)

  /// The reason why the program ends; `nil` while it continues.
  var ending: BootEnding? { get }

  /// Performs the last action of the program; for example, marks an activated image for the
  /// bootloader.
  func leave(_ ending: BootEnding) throws(FlashFault)

  /// The filter that alters the PDUs between the stack and the radio; `nil` = PDUs are neither
  /// altered nor decoded.
  var alteration: (any PDUAlteration)? { get }
}

/// A filter that observes the PDUs of a board's connections and alters some of them. Safe to use
/// from any task.
protocol PDUAlteration: Sendable {
  /// Observes a PDU from the host.
  func received(_ pdu: ATTPDU)

  /// Returns the PDU to send to the host in place of `pdu`.
  func altered(_ pdu: ATTPDU) -> ATTPDU
}

/// The defaults for a program that never writes to flash and keeps no state for the next boot.
extension BoardProgram {
  var pendingOperation: FlashOperation? { nil }

  var computationTime: Duration { .zero }

  func flashDone(_ isDone: Bool) { preconditionFailure("the program has no operation in flash") }

  func leave(_ ending: BootEnding) throws(FlashFault) {}
  var alteration: (any PDUAlteration)? { nil }
}

/// The characteristic that receives an image, and the number of bytes in each value that are not
/// part of the image, if this number is the same for every message.
struct DataPath: Sendable {
  /// The handle of the characteristic; `nil` = the program does not receive images.
  let handle: AttributeHandle?
  var overheadBytes = 0
}

/// The reason why the program of a boot ended.
enum BootEnding: Sendable {
  /// The program requests another image or another program from the bootloader.
  case activated
  case reset
  case powerLost
  case switchedOff
}
