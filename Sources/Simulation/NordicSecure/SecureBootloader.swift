import OtaflashATT
import OtaflashFirmware

/// The request handler of Nordic's Secure DFU bootloader (SDK 15), from writes to its two
/// characteristics to answers and flash operations. This type is independent of link and clock.
struct SecureBootloader: DFUMachine {
  /// The number of packets, regardless of their size, that the bootloader buffers until they are in
  /// flash.
  static let packetBuffers = 17
  /// The capacity of the flash queue in entries, including the entry of the running operation.
  static let flashOperations = 16
  /// The maximum length of a Control Point value in bytes.
  static let controlBytesMaximum = 23
  static let connectionBreaksSilence = true

  enum ObjectType: UInt8, Sendable {
    case command = 1
    case data = 2
  }

  enum FlashPurpose: Sendable {
    case erase
    case packet
    case settings
    case activation(SlotImage)
  }

  struct Progress: Equatable, Sendable {
    var offset = 0
    var crc32: UInt32 = 0
  }

  let parts: BoardParts
  let settings: SecureBootloaderSettings
  /// The time without a request after which the bootloader resets.
  let silenceLimit: Duration?
  /// The address of the slot that receives the image.
  let slot: Int
  let pages: RecordPages
  let bootPages: Bootloader
  var record: SecureRecord
  var sequence: UInt32
  let bootRecord: BootRecord
  var misbehavior: SecureMisbehavior

  var isNotifying = false
  var currentType: ObjectType?
  var initPacket: [UInt8] = []
  var initPacketSize = 0
  /// The progress of the image: the bytes queued for the flash, and the bytes executed.
  var queued = Progress()
  var executed = Progress()
  var objectSize = 0
  var image: InitPacket?

  var receiptTarget = 0
  var packetsUntilReceipt = 0
  var buffersInUse = 0
  var queue = FlashQueue<FlashPurpose>(capacity: Self.flashOperations)
  var isExecutePending = false
  var responses: [[UInt8]] = []
  private(set) var request: DFURequest?

  /// Creates the bootloader with the content of the settings page.
  init(
    _ settings: SecureBootloaderSettings, inactivity: Duration, record: SecureRecord,
    sequence: UInt32,
    bootRecord: BootRecord, misbehavior: SecureMisbehavior, parts: BoardParts
  ) {
    self.settings = settings
    silenceLimit = inactivity
    self.record = record
    self.sequence = sequence
    self.bootRecord = bootRecord
    self.misbehavior = misbehavior
    self.parts = parts
    let layout = parts.settings.layout
    slot = layout.slot(settings.banks == .dual ? bootRecord.inactive : bootRecord.active)
    pages = RecordPages(flash: parts.flash, pages: layout.metadata)
    bootPages = Bootloader(flash: parts.flash, layout: layout)
    initPacket = record.initPacket
    initPacketSize = initPacket.count
    image = Self.decoded(initPacket)
  }

  /// The size of the image in bytes; 0 before a valid init packet.
  var imageSize: Int { image?.imageSize ?? 0 }

  func breaksSilence(_ write: DFUWrite) -> Bool {
    if case .control = write { true } else { false }
  }

  // MARK: The Control Point

  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard isNotifying else { return .clientConfigurationImproperlyConfigured }
    guard (1...Self.controlBytesMaximum).contains(bytes.count) else {
      return .invalidAttributeValueLength
    }
    switch bytes[0] {
    case 0x01: answerCreate(bytes)
    case 0x02: answerReceiptTarget(bytes)
    case 0x03: answerChecksum()
    case 0x04: execute()
    case 0x06: answerSelect(bytes)
    // The transport sends only the header of these answers, without their payload.
    case 0x00, 0x07, 0x09, 0x0A, 0x0B: succeed(bytes[0])
    case 0x0C:
      succeed(0x0C)
      request = .reset
    default: fail(bytes[0], .operationNotSupported)
    }
    return nil
  }

  // MARK: Answers

  mutating func succeed(_ opcode: UInt8, _ payload: [UInt8] = []) {
    responses.append([0x60, opcode, 0x01] + payload)
  }

  mutating func fail(_ opcode: UInt8, _ result: SecureResult) {
    responses.append([0x60, opcode] + result.bytes)
  }

  // MARK: Flash

  mutating func storeRecord(for purpose: FlashPurpose) -> Bool {
    let operations = pages.operations(storing: record.encoded, sequence: sequence + 1)
    guard queue.offer(operations, for: purpose) else { return false }
    sequence += 1
    return true
  }

  mutating func flashDone(_ isDone: Bool) {
    switch queue.finishedOne() {
    case .packet: buffersInUse -= 1
    case .activation(let image): request = .activate(image)
    case .erase, .settings, nil: break
    }
    executeDataWhenIdle()
  }

  // MARK: Ends of a transfer

  /// Handles a disconnection. Bytes in flash are kept, and are reported after the next connection.
  mutating func disconnected() {
    isNotifying = false
    responses.removeAll()
  }

  func silenceTooLong() -> Bool { true }

  static func decoded(_ bytes: [UInt8]) -> InitPacket? {
    guard !bytes.isEmpty else { return nil }
    do throws(InitPacket.Fault) { return try InitPacket(decoding: bytes) } catch { return nil }
  }
}

extension SecureBootloader.Progress {
  var bytes: [UInt8] { UInt32(offset).littleEndianBytes + crc32.littleEndianBytes }
}
