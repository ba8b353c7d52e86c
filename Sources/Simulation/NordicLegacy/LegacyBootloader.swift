import OtaflashATT
import OtaflashFirmware

/// The rules of Nordic's legacy bootloader in SDK 11, and of Adafruit's derivative (see the table
/// in README.md in this folder). This type is independent of link and clock.
struct LegacyBootloader: DFUMachine {
  static let initPacketBytesMaximum = 128
  /// A connection does not restart the inactivity timer, which starts at boot.
  static let connectionBreaksSilence = false
  /// The capacity of the flash queue in entries. The real bootloader waits while its queue is full;
  /// this capacity is so large that the queue never fills.
  private static let flashOperations = 1024

  /// The expected content of the next packet, as set by the last request, regardless of other
  /// events.
  enum Expected: Sendable {
    case nothing
    case sizes
    case initPacket
    case image
  }

  enum Phase: Equatable, Sendable {
    case idle
    /// The space for the image is being erased.
    case preparing
    case ready
    case initPacket
    case image
    /// The checksum did not match; only a reset ends this state.
    case failedValidation
    case validated
    case activating
  }

  enum FlashPurpose: Sendable {
    case erase
    case settings
    case packet(isLast: Bool)
    case activation(SlotImage?)
  }

  let parts: BoardParts
  let settings: LegacyBootloaderSettings
  let loader: Bootloader
  let slot: Int
  let pool: LegacyBootloaderSettings.Pool

  var bootRecord: BootRecord
  var phase = Phase.idle
  var expected = Expected.nothing
  var request: DFURequest?
  var isNotifying = false
  var responses: [[UInt8]] = []
  var queue: FlashQueue<FlashPurpose>
  var sizes = LegacySizes()
  /// The number of received bytes that is compared with the size of the image. The reported
  /// counter, `receivedInAll`, is never reset.
  var received: UInt32 = 0
  var receivedInAll: UInt32 = 0
  var packetsInFlash = 0
  var initPacket: [UInt8] = []
  var receiptTarget = 0
  var packetsUntilReceipt = 0
  /// Whether the program hangs until its watchdog resets it.
  var isHanging = false

  init(_ settings: LegacyBootloaderSettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    let layout = parts.settings.layout
    loader = Bootloader(flash: parts.flash, layout: layout)
    slot = layout.slot(settings.banks == .dual ? bootRecord.inactive : bootRecord.active)
    pool = settings.packetPool
    queue = FlashQueue(capacity: Self.flashOperations)
  }

  // MARK: The Control Point

  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard isNotifying else { return .clientConfigurationImproperlyConfigured }
    guard !isHanging else { return nil }
    guard let opcode = bytes.first else { return .invalidAttributeValueLength }
    switch opcode {
    case 0x01: expect(.sizes, bytes)
    case 0x02:
      expect(.initPacket, bytes)
      if bytes.count > 1, bytes[1] == 1 { answer(0x02, judgeInitPacket()) }
    case 0x03: expected = .image
    case 0x04: answer(0x04, validate())
    case 0x05: activate()
    case 0x06: request = .reset
    case 0x07: answer(0x07, .success, receivedInAll.littleEndianBytes)
    case 0x08: setReceipts(bytes)
    default: answer(opcode, .notSupported)
    }
    return nil
  }

  /// Handles a request that announces packets. The type of the update in START is ignored; the
  /// sizes are checked when they arrive.
  private mutating func expect(_ next: Expected, _ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return answer(bytes[0], .failed) }
    expected = next
  }

  private mutating func judgeInitPacket() -> LegacyStatus {
    guard phase == .initPacket else { return .invalidState }
    guard let packet = LegacyInitPacket(decoding: initPacket), packet.fits(settings) else {
      initPacket = []
      return .failed
    }
    phase = .image
    return .success
  }

  /// Compares the checksum with the current content of the flash, even if writes are pending.
  private mutating func validate() -> LegacyStatus {
    guard phase == .image, received == sizes.total else { return .invalidState }
    guard let bytes = imageInFlash(),
      CRC16.checksum(bytes) == LegacyInitPacket(decoding: initPacket)?.crc16
    else {
      phase = .failedValidation
      return .wrongChecksum
    }
    phase = .validated
    return .success
  }

  /// Activates the image. The request is never answered: the link ends. Without a validated image
  /// the device resets.
  private mutating func activate() {
    guard phase == .validated, let bytes = imageInFlash() else {
      request = .reset
      return
    }
    phase = .activating
    var next = bootRecord
    var image: SlotImage?
    if sizes.application > 0 {
      let described = SlotImage(describing: bytes)
      next.markPending(described, inPlace: settings.banks == .single)
      next.isPending = true
      image = described
    }
    store(next, for: .activation(image))
  }

  private mutating func setReceipts(_ bytes: [UInt8]) {
    guard bytes.count >= 3 else { return answer(0x08, .notSupported) }
    receiptTarget = Int(bytes.littleEndianHalfword(at: 1))
    packetsUntilReceipt = receiptTarget
  }

  mutating func answer(_ opcode: UInt8, _ status: LegacyStatus, _ payload: [UInt8] = []) {
    responses.append([0x10, opcode, status.rawValue] + payload)
  }

  // MARK: Ends of a transfer

  /// Handles a disconnection. The state of the transfer is kept.
  mutating func disconnected() {
    isNotifying = false
    responses.removeAll()
  }

  var silenceLimit: Duration? {
    isHanging ? .milliseconds(9600) : settings.silenceLimit
  }

  /// Returns whether a write restarts the inactivity timer: only sizes, init packets, data and the
  /// request to validate do.
  func breaksSilence(_ write: DFUWrite) -> Bool {
    switch write {
    case .control(let bytes): bytes.first == 0x04
    case .packet: expected != .nothing
    }
  }

  func silenceTooLong() -> Bool { true }
}

/// The result codes of legacy DFU.
enum LegacyStatus: UInt8, Sendable {
  case success = 1
  case invalidState = 2
  case notSupported = 3
  case sizeExceedsLimit = 4
  case wrongChecksum = 5
  case failed = 6
}

/// The sizes of the replaced parts in bytes.
struct LegacySizes: Equatable, Sendable {
  var softDevice: UInt32 = 0
  var bootloader: UInt32 = 0
  var application: UInt32 = 0

  var total: UInt32 { softDevice &+ bootloader &+ application }

  var isInWords: Bool { (softDevice | bootloader | application).isMultiple(of: 4) }

  /// Whether the sizes contain an application together with system parts, a combination that is
  /// rejected.
  var isMixed: Bool { application > 0 && (softDevice > 0 || bootloader > 0) }

  init() {}

  /// - Parameter bytes: 12 bytes.
  init(decoding bytes: [UInt8]) {
    softDevice = bytes.littleEndianWord(at: 0)
    bootloader = bytes.littleEndianWord(at: 4)
    application = bytes.littleEndianWord(at: 8)
  }
}
