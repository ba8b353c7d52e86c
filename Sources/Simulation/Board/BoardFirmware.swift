import OtaflashATT
import OtaflashGATT

/// What a kind of device keeps over its resets: the bootloader's memory and the images. One a
/// board; it decides at each boot which program runs.
protocol BoardFirmware: AnyObject, Sendable {
  /// Where the host first looks for the device.
  var address: DeviceAddress { get }
  /// The identity of the image that runs, or that the next boot starts.
  var running: SlotImage { get }

  /// The image that runs, as it lies in flash; empty where nothing but a bootloader can run.
  func runningImage() throws(FlashFault) -> [UInt8]

  /// The same for each image of the device, that one first.
  func runningImages() throws(FlashFault) -> [[UInt8]]

  /// Does the bootloader's work and loads what runs now.
  ///
  /// - Parameter number: how many resets there were before.
  func boot(_ number: Int) throws(FlashFault) -> Boot
}

extension BoardFirmware {
  func runningImages() throws(FlashFault) -> [[UInt8]] { [try runningImage()] }
}

/// What a boot led to.
struct Boot: Sendable {
  let program: any BoardProgram
  /// A new image runs for the first time.
  var isActivation = false
  /// What the bootloader's work on flash takes beside the profile's time to boot.
  var flashTime = Duration.zero
}

/// What runs from one reset to the next: a server, and a main loop that asks the flash for one
/// operation at a time. Safe to use from any task.
protocol BoardProgram: AnyObject, Sendable {
  var server: GATTServer { get }
  /// What a scanner hears of it.
  var advertisement: Advertisement { get }
  /// Where the host writes an image.
  var dataPath: DataPath { get }

  /// Does what is due. Returns the time after which to poll again, `nil` = after the next event.
  func poll(at now: LinkInstant) -> Duration?

  /// The flash operation that the program waits for.
  var pendingOperation: FlashOperation? { get }

  /// The pending flash operation has ended.
  func flashDone(_ isDone: Bool)

  /// Why it ends, once it wants to.
  var ending: BootEnding? { get }

  /// The last thing it does: it marks an activated image for the bootloader.
  func leave(_ ending: BootEnding) throws(FlashFault)

  /// What becomes of the PDUs between its stack and its radio; `nil` = nothing, and nobody decodes
  /// them there.
  var alteration: (any PDUAlteration)? { get }
}

/// What sees the PDUs of a board's connections, and changes some. Safe to use from any task.
protocol PDUAlteration: Sendable {
  /// Sees a PDU that the host sent.
  func received(_ pdu: ATTPDU)

  /// A PDU to the host as it is to be sent.
  func altered(_ pdu: ATTPDU) -> ATTPDU
}

/// What holds for a program that never writes to flash, and keeps nothing for the next boot.
extension BoardProgram {
  var pendingOperation: FlashOperation? { nil }

  func flashDone(_ isDone: Bool) { preconditionFailure("the program has no operation in flash") }

  func leave(_ ending: BootEnding) throws(FlashFault) {}
  var alteration: (any PDUAlteration)? { nil }
}

/// The characteristic that takes an image, and what each of its values carries beside the image, as
/// far as it can be told without putting messages together.
struct DataPath: Sendable {
  /// `nil` = this program takes no image.
  let handle: AttributeHandle?
  var overheadBytes = 0
}

/// How a boot ended.
enum BootEnding: Sendable {
  /// The program asks the bootloader for another image, or for another program.
  case activated
  case reset
  case powerLost
  case switchedOff
}
