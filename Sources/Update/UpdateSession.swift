import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One update protocol on one connection. The life cycle owns order and recovery; a protocol only
/// fills in the steps. A session lives as long as its connection: after a loss a new one is opened
/// and asks the device where it stands.
protocol UpdateSession: Sendable {
  /// The service that tells that a device speaks this protocol.
  static var service: BluetoothUUID { get }

  /// Finds the protocol's attributes, subscribes, and asks the device about itself.
  static func open(
    on client: GATTClient, _ context: UpdateContext
  ) async throws(UpdateFault) -> Self

  var device: DeviceReport { get }

  func authorize(with key: [UInt8]) async throws(UpdateFault)

  /// Announces the image and returns the offset from which the device wants it.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> Int

  /// Sends the image from `offset` on. Returns when the device has all of it.
  func upload(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault)

  /// Lets the device prove that what it holds is the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict

  /// Makes the device restart into the image; returns when it has agreed.
  func activate() async throws(UpdateFault)

  /// What runs now.
  func running() async throws(UpdateFault) -> RunningImage

  /// Makes an image on trial permanent.
  func confirm() async throws(UpdateFault)

  /// Tells the device that the transfer ends here; what it holds is kept for a resume.
  func abandon() async throws(UpdateFault)
}

/// What a device says when it is asked to prove an image that it has received.
enum UpdateVerdict: Equatable, Sendable {
  case verified
  /// A part did not hold in flash: the device wants the image from this offset again.
  case wanted(from: Int)
}

/// What every step may use: the clock, the caller's options, and where to report.
struct UpdateContext: Sendable {
  let clock: any LinkClock
  let options: UpdateOptions
  let tally: UpdateTally
  let observe: @Sendable (UpdateEvent) -> Void
  /// Where a benchmark measures; an update has none.
  var meter: TransferMeter?
}

/// What a device runs, as it says itself.
struct RunningImage: Equatable, Sendable {
  let version: FirmwareVersion
  let size: Int
  let crc32: UInt32
  let outcome: DeviceReport.BootOutcome
  let onTrial: Bool

  func isImage(_ image: FirmwareImage) -> Bool {
    crc32 == image.crc32 && size == image.bytes.count
  }
}
