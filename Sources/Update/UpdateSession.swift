import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One update protocol on one connection. The life cycle owns order and recovery; a protocol only
/// fills in the steps. A session lives as long as its connection: after a loss a new one is opened
/// and asks the device where it stands.
protocol UpdateSession: Sendable {
  static var name: UpdateProtocol { get }

  /// The services any of which tells that a device speaks this protocol.
  static var services: [BluetoothUUID] { get }

  /// Where a device may be before anything is done to it, in the order to look: elsewhere than at
  /// home where an earlier run was broken off in a boot loader.
  static var places: [Whereabouts] { get }

  /// Whether this protocol can carry the image at all.
  static func takes(_ image: FirmwareImage) -> Bool

  /// Finds the protocol's attributes, subscribes, and asks the device about itself.
  static func open(
    on client: GATTClient, _ context: UpdateContext
  ) async throws(UpdateFault) -> Self

  var device: DeviceReport { get }

  /// Where the boot loader will be found, for a device that must first be sent there; `nil` when
  /// it takes an image where it is.
  var bootLoaderPlace: Whereabouts? { get }

  /// Where the device may be after the images were activated, in the order to look.
  func placesAfterActivation(of images: [FirmwareImage]) -> [Whereabouts]

  /// Compares image and device. Nothing is written.
  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight

  func authorize(with key: [UInt8]) async throws(UpdateFault)

  /// Sends the device to its boot loader; it ends the connection.
  func detach() async throws(UpdateFault)

  /// Announces the image and returns the offset from which the device wants it.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> Int

  /// Sends the image from `offset` on. Returns when the device has all of it.
  func upload(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault)

  /// Lets the device prove that what it holds is the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict

  /// Makes the device restart into the images that were sent, one or more; returns when it has
  /// agreed.
  ///
  /// - Parameter current: images of the same update that were found running; the restart must not
  ///   take them back.
  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault)

  /// Whether an image that the device is found to hold is known to be whole.
  var provesHeldImages: Bool { get }

  /// How much longer than `UpdateOptions.rebootLimit` the boot loader may take to start the images.
  func startTime(of images: [FirmwareImage]) -> Duration

  /// What runs now, compared with the image.
  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage

  /// Makes an image on trial permanent.
  func confirm(_ image: FirmwareImage) async throws(UpdateFault)

  /// Whether the device keeps what it has acknowledged when the connection ends, so that the next
  /// one goes on there. Where it does, what is said of a resume point is its acknowledged octets:
  /// OTA receivers have them in flash, SMP servers and Secure DFU boot loaders while they run. A
  /// device of legacy DFU begins every transfer anew.
  var keepsProgress: Bool { get }

  /// Tells the device that the transfer ends here; what the protocol keeps is kept for a resume.
  func abandon() async throws(UpdateFault)
}

/// What most protocols have no use for.
extension UpdateSession {
  static var places: [Whereabouts] { [.home] }

  static func takes(_ image: FirmwareImage) -> Bool { true }

  var bootLoaderPlace: Whereabouts? { nil }

  func placesAfterActivation(of images: [FirmwareImage]) -> [Whereabouts] { [.home] }

  func authorize(with key: [UInt8]) async throws(UpdateFault) {}

  func detach() async throws(UpdateFault) {}

  var provesHeldImages: Bool { true }

  func startTime(of images: [FirmwareImage]) -> Duration { .zero }

  var keepsProgress: Bool { true }

  func abandon() async throws(UpdateFault) {}
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
  /// All images, where there are several; two may have one name.
  var parts: [FirmwareImage] = []
  /// Where the device of this connection was found.
  var place = Whereabouts.home
  /// Where a benchmark measures; an update has none.
  var meter: TransferMeter?
}

/// What a device runs, as it says itself.
struct RunningImage: Equatable, Sendable {
  /// How it compares with the image of the update: the weaker the proof, the later the case.
  enum Agreement: Int, Comparable, Sendable {
    /// It is that image, octet for octet.
    case same
    /// It has that image's version; its octets cannot be compared.
    case sameVersion
    /// Its version cannot be compared, but what it tells of itself is not what was told before.
    case changed
    /// It tells nothing that could be compared; its boot loader has checked what it started.
    case untold
    case different

    static func < (lhs: Agreement, rhs: Agreement) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// `nil` when the device does not tell.
  let version: FirmwareVersion?
  let agreement: Agreement
  let outcome: DeviceReport.BootOutcome
  /// It runs for this once, and the host can confirm it.
  let onTrial: Bool
  /// What only the device's user can do so that it stays; `nil` where nothing is needed.
  var validation: String?
}
