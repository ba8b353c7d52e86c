import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The rules of TI's OAD profile (README.md in this folder), independent of link and clock. The
/// application processes one message after the other, each with its flash operations.
struct OADServer: Sendable {
  /// The status codes of the profile.
  enum Status: UInt8, Sendable {
    case success = 0
    case checksum = 1
    case flash = 2
    case overflow = 3
    case alreadyStarted = 4
    case notStarted = 5
    case incomplete = 6
    case tooLarge = 8
    case incompatibleImage = 9
    case invalidFile = 10
    case incompatibleFile = 11
    case complete = 14
    case identifyRetries = 16
    case unknownCommand = 0xFF
  }

  /// A characteristic of the service.
  enum Target: Sendable { case identify, block, control }

  /// A value that was written, or is to be notified.
  struct Message: Equatable, Sendable {
    let target: Target
    let bytes: [UInt8]
  }

  /// The image that was announced, and its received part.
  struct Transfer: Sendable {
    let length: Int
    /// The number of image bytes in a block.
    let blockBytes: Int
    /// The received bytes.
    var bytes: [UInt8] = []
    /// The number of received blocks, which is the number of the next block.
    var count = 0
    /// Whether the pages have been erased.
    var isErased = false

    var total: Int { (length + blockBytes - 1) / blockBytes }
    var isComplete: Bool { count == total }
  }

  enum Phase: Sendable {
    case idle
    case configured(Transfer)
    case receiving(Transfer)
    case complete(Transfer)
  }

  /// The work whose flash operations run.
  enum Work: Sendable {
    case block
    case enabling(SlotImage)
  }

  /// The number of refused images at which a device reports `identifyRetries`.
  static let retries = 3
  /// The block size without an MTU exchange.
  static let smallestBlock = 20

  let settings: OADServerSettings
  let parts: BoardParts
  let loader: Bootloader
  let slot: Int
  /// The software version that the device reports.
  let version: [UInt8]
  var bootRecord: BootRecord
  var phase = Phase.idle
  var blockSize = smallestBlock
  var retriesLeft = retries
  /// Whether the profile has a record of the active connection; without the record, some answers
  /// are not sent.
  var isActive = false
  /// Whether the host is subscribed to Identify.
  var notifiesIdentify = false
  /// The messages that wait for the application.
  var waiting: [Message] = []
  /// The pending notifications, in order.
  var notices: [Message] = []
  var queue = FlashQueue<Work>(capacity: 1)
  /// Whether a flash operation of the running work has failed.
  var flashFailed = false
  /// The time of the last event that restarts the inactivity timer; `nil` = the timer is stopped.
  var lastActivity: LinkInstant?
  /// Whether the new image was enabled, so that the device restarts.
  var isEnabled = false

  init(
    _ settings: OADServerSettings, bootRecord: BootRecord, version: [UInt8], parts: BoardParts
  ) {
    self.settings = settings
    self.parts = parts
    self.bootRecord = bootRecord
    self.version = version
    let layout = parts.settings.layout
    loader = Bootloader(flash: parts.flash, layout: layout)
    slot = layout.slot(bootRecord.inactive)
    if settings.generation == .mcuboot { blockSize = OADServerSettings.fixedBlock }
  }

  // MARK: Messages

  /// Stores a written value for the application. Without memory, the profile of the BIM cancels the
  /// transfer silently; the profile with MCUboot only drops the value.
  mutating func written(_ bytes: [UInt8], to target: Target) {
    guard !isEnabled else { return }
    isActive = true
    guard waiting.count < settings.queue else {
      if settings.generation == .bim { reset() }
      return
    }
    waiting.append(Message(target: target, bytes: bytes))
  }

  /// Processes the waiting messages until flash operations start.
  mutating func work(at now: LinkInstant) {
    while queue.isIdle, !waiting.isEmpty, !isEnabled {
      let message = waiting.removeFirst()
      switch settings.generation {
      case .bim: process(message, at: now)
      case .mcuboot: processForMCUboot(message, at: now)
      }
    }
  }

  mutating func notify(_ target: Target, _ bytes: [UInt8]) {
    notices.append(Message(target: target, bytes: bytes))
  }

  /// Requests a block, and reports the status of the previous block.
  mutating func request(_ block: Int, after status: Status) {
    notify(.control, [0x12, status.rawValue] + UInt32(block).littleEndianBytes)
  }

  // MARK: The end of a transfer

  /// Discards the transfer and all waiting messages.
  mutating func reset() {
    phase = .idle
    retriesLeft = Self.retries
    waiting.removeAll()
    lastActivity = nil
    guard settings.generation == .bim else { return }
    // The profile looks up the link of the active connection, and then discards its record.
    if !isActive { blockSize = Self.smallestBlock }
    isActive = false
  }

  mutating func mtuChanged(_ mtu: ATTMTU) {
    guard settings.generation == .bim else { return }
    guard case .idle = phase else { return reset() }
    let size = (mtu.bytes - 3) / 4 * 4
    blockSize = min(OADServerSettings.largestBlock, max(Self.smallestBlock, size))
  }

  /// Handles the end of the link: the profile with MCUboot keeps its state until the inactivity
  /// timer expires.
  mutating func disconnected() {
    notices.removeAll()
    notifiesIdentify = false
    guard settings.generation == .bim else { return }
    isActive = false
    reset()
  }

  /// Handles the expiry of the inactivity timer. Returns the time at which the timer expires; `nil`
  /// = the timer does not run, or has expired.
  mutating func deadline(at now: LinkInstant) -> LinkInstant? {
    guard let lastActivity, !isEnabled else { return nil }
    let end = lastActivity.advanced(by: settings.inactivity)
    guard now >= end, queue.isIdle else { return now >= end ? nil : end }
    reset()
    return nil
  }
}
