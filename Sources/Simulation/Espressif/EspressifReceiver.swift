import OtaflashATT
import OtaflashFirmware

/// The rules of Espressif's OTA service in its five implementations, one file each. This type is
/// independent of link and clock.
struct EspressifReceiver: Sendable {
  static let sectorSize = 4096
  /// The size of the sector buffer of Espressif's ble_ota and of NimBLEOta: a sector and its CRC.
  static let bufferSize = 4098
  private static let flashOperations = 8192

  /// A value to notify or indicate.
  enum Answer: Equatable, Sendable {
    case command([UInt8])
    case firmware([UInt8])
  }

  /// The reason why the task of the Bluetooth host waits, so that no further write is handled.
  enum Block: Equatable, Sendable {
    /// The flash is erased before the answer to START.
    case erase
    /// A sector does not fit in the ring buffer; its answer follows.
    case ring([UInt8], sector: UInt16)
    /// A sector is written to flash; its answer follows.
    case sector(UInt16, count: Int)
    /// The image is complete, and the task sleeps until the restart.
    case restart
  }

  enum FlashPurpose: Sendable {
    case bootErase
    case startErase
    case sector(count: Int)
    case record(SlotImage)
  }

  let parts: BoardParts
  let settings: EspressifSettings
  let loader: Bootloader
  var bootRecord: BootRecord
  let slot: Int

  var answers: [Answer] = []
  var block: Block?
  var queue: FlashQueue<FlashPurpose>
  /// The image to start, and the time until the restart.
  var restart: (image: SlotImage, delay: Duration)?
  /// Whether the firmware has crashed.
  var hasCrashed = false

  var isStarted = false
  /// The stated size of the image in bytes.
  var total = 0
  /// The number of the expected sector, and of the expected packet in it.
  var sector: UInt16 = 0
  var packet: UInt8 = 0
  var buffer: [UInt8] = []
  /// NimBLE: whether a packet of the current sector was out of order.
  var isOutOfOrder = false
  /// BLEOTA: the number of bytes received of the current sector.
  var counted = 0

  /// The number of bytes in the ring buffer, including the item that is written to flash.
  var ringBytes = 0
  /// The number of bytes queued for the flash.
  var written = 0
  /// The number of bytes written to flash.
  var stored = 0
  /// raw: the size of the image when the writer received its first item; `nil` = the writer has
  /// received no item.
  var latchedTotal: Int?
  /// Whether the task that writes the flash has ended; only a reset starts it again.
  var isWriterDead = false
  /// BLEOTA: whether the library for updates is running.
  var isUpdating = false
  /// NimBLEOta: whether the link has ended while the task of the Bluetooth host waited.
  var hasLeft = false

  init(_ settings: EspressifSettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    let layout = parts.settings.layout
    loader = Bootloader(flash: parts.flash, layout: layout)
    slot = layout.slot(bootRecord.inactive)
    queue = FlashQueue(capacity: Self.flashOperations)
    // `esp_ota_begin` with an unknown size erases the complete partition.
    if settings.variant == .nimble || settings.variant == .bluedroid {
      erase(upTo: slotSize, for: .bootErase)
    }
  }

  var slotSize: Int { parts.settings.slotSize }
  private var pageSize: Int { parts.settings.layout.pageSize }

  // MARK: Writes

  /// Handles a write to the characteristic for commands. Returns the ATT error code of the write,
  /// if it is rejected.
  mutating func commandWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard restart == nil else { return nil }
    switch settings.variant {
    case .nimble: nimbleCommand(bytes)
    case .bluedroid: bluedroidCommand(bytes)
    case .raw: return rawCommand(bytes)
    case .nimbleOTA: nimbleOTACommand(bytes)
    case .bleOTA: bleOTACommand(bytes)
    }
    return nil
  }

  /// Handles a write to the characteristic for firmware. Returns the ATT error code of the write,
  /// if it is rejected.
  mutating func firmwareWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard restart == nil else { return nil }
    switch settings.variant {
    case .nimble: return nimbleFirmware(bytes)
    case .bluedroid: bluedroidFirmware(bytes)
    case .raw: return rawFirmware(bytes)
    case .nimbleOTA: nimbleOTAFirmware(bytes)
    case .bleOTA: bleOTAFirmware(bytes)
    }
    return nil
  }

  /// Returns the size of the image in the command START, in bytes.
  static func startLength(_ bytes: [UInt8]) -> Int { Int(bytes.littleEndianWord(at: 2)) }

  // MARK: Answers

  mutating func answerCommand(_ id: UInt16, _ status: UInt16, window: UInt8 = 0) {
    var bytes = UInt16(3).littleEndianBytes + id.littleEndianBytes + status.littleEndianBytes
    bytes += [window] + [UInt8](repeating: 0, count: 11)
    answers.append(.command(bytes + EspressifCRC.checksum(bytes).littleEndianBytes))
  }

  mutating func answerFirmware(_ sector: UInt16, _ status: UInt16, wanted: UInt16 = 0) {
    var bytes = sector.littleEndianBytes + status.littleEndianBytes + wanted.littleEndianBytes
    bytes += [UInt8](repeating: 0, count: 12)
    answers.append(.firmware(bytes + EspressifCRC.checksum(bytes).littleEndianBytes))
  }

  mutating func clearSector() {
    buffer = []
    packet = 0
    counted = 0
    isOutOfOrder = false
  }

  // MARK: Flash

  mutating func erase(upTo size: Int, for purpose: FlashPurpose) {
    let pages = stride(from: slot, to: slot + size, by: pageSize)
    let isQueued = queue.offer(pages.map { .erase(page: $0) }, for: purpose)
    precondition(isQueued, "few erases are queued")
  }

  /// Queues bytes for the flash, like `esp_ota_write`. Bytes are rejected if their number is 0, if
  /// the first bytes are not the start of an image, if they exceed the partition, or if the bytes
  /// before them are not complete words.
  ///
  /// - Parameter erasing: whether the page is erased first.
  /// - Returns: `false` if the bytes are rejected.
  mutating func write(_ bytes: [UInt8], erasing: Bool = false) -> Bool {
    guard !bytes.isEmpty, written > 0 || bytes[0] == 0xE9,
      written + bytes.count <= slotSize, written.isMultiple(of: 4)
    else { return false }
    let padding = (4 - bytes.count % 4) % 4
    let words = bytes + [UInt8](repeating: 0xFF, count: padding)
    var operations: [FlashOperation] = [.write(words, at: slot + written)]
    let page = (slot + written) / pageSize * pageSize
    if erasing { operations.insert(.erase(page: page), at: 0) }
    written += bytes.count
    return queue.offer(operations, for: .sector(count: bytes.count))
  }

  mutating func flashDone(_ isDone: Bool) {
    guard let purpose = queue.finishedOne() else { return }
    switch purpose {
    case .bootErase: break
    case .startErase: startErased()
    case .sector(let count): sectorStored(count, isDone)
    case .record(let image): recorded(image)
    }
    if hasLeft { disconnected() }
  }

  private mutating func startErased() {
    guard block == .erase else { return }
    block = nil
    started()
  }

  private mutating func sectorStored(_ count: Int, _ isDone: Bool) {
    stored += count
    switch settings.variant {
    case .nimble, .bluedroid, .raw: ringItemStored(count, isDone)
    case .nimbleOTA: nimbleOTAStored(isDone)
    case .bleOTA: bleOTAStored(isDone)
    }
  }

  /// Reads the received image back and checks it, as `esp_ota_end` does. Returns `nil` if the
  /// bootloader would not start it.
  func receivedImage(of size: Int) -> SlotImage? {
    do throws(FlashFault) {
      let bytes = try parts.flash.read(slot..<slot + min(size, stored))
      guard let image = EspressifImage(bytes[...], chip: settings.chip) else { return nil }
      return SlotImage(
        size: UInt32(bytes.count), crc32: CRC32.checksum(bytes),
        version: FirmwareVersion(image.version) ?? .unknown)
    } catch {
      parts.note(error)
      return nil
    }
  }

  /// Selects the image for the next boot.
  mutating func store(_ image: SlotImage) {
    var next = bootRecord
    next.markPending(image)
    next.sequence += 1
    bootRecord = next
    let isQueued = queue.offer(loader.operations(storing: next), for: .record(image))
    precondition(isQueued, "the queue has room")
  }

  private mutating func recorded(_ image: SlotImage) {
    switch settings.variant {
    case .nimble, .bluedroid: restart = (image, .zero)
    case .raw: restart = (image, .milliseconds(200))
    case .nimbleOTA: nimbleOTAComplete(image)
    case .bleOTA:
      answerCommand(2, 0)
      restart = (image, .milliseconds(500))
    }
  }
}
