import OtaflashATT
import OtaflashFirmware

/// Nordic's legacy DFU in InfiniTime, the firmware of a watch: the application itself receives the
/// image, into a second slot. This type is independent of link and clock.
struct InfiniTimeReceiver: DFUMachine {
  /// The number of data packets that can wait for the flash.
  static let packetBuffers = 8
  /// The capacity of the flash queue in entries, including the entry of the running operation.
  static let flashOperations = 32
  /// The maximum length of a data packet in bytes; a longer packet overflows the buffer.
  static let packetBytesMaximum = 20
  static let initPacketBytesMaximum = 64
  /// The maximum size of an image in bytes.
  static let imageMaximum = 475_136
  /// The value for application images; 1…3 denote SoftDevices and bootloaders.
  private static let applicationType: UInt8 = 4
  /// The time without a write of the host after which InfiniTime aborts a transfer.
  private static let stallLimit = Duration.seconds(10)
  static let connectionBreaksSilence = true

  enum Phase: Equatable, Sendable {
    case idle
    /// Waiting for the sizes on the Packet characteristic.
    case sizes
    case erasing
    case ready
    case initPacket([UInt8])
    case initialized
    case receiving
    case received
    case validating
    case validated
    case activating
  }

  enum FlashPurpose: Sendable {
    case erase
    case packet
    case activation(SlotImage)
  }

  let parts: BoardParts
  let settings: LegacyBootloaderSettings
  let loader: Bootloader
  let bootRecord: BootRecord
  let slot: Int

  var phase = Phase.idle
  var request: DFURequest?
  var isNotifying = false
  var responses: [[UInt8]] = []
  var queue: FlashQueue<FlashPurpose>
  var imageSize = 0
  var received = 0
  var packetsInFlash = 0
  var initPacket: LegacyInitPacket?
  var receiptTarget = 0
  var packetsUntilReceipt = 0

  init(_ settings: LegacyBootloaderSettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    let layout = parts.settings.layout
    loader = Bootloader(flash: parts.flash, layout: layout)
    slot = layout.slot(bootRecord.inactive)
    queue = FlashQueue(capacity: Self.flashOperations)
  }

  var imageMaximum: Int { min(parts.settings.slotSize, Self.imageMaximum) }

  func breaksSilence(_ write: DFUWrite) -> Bool { true }

  // MARK: The Control Point

  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    if settings.isDisabled { return .insufficientAuthorization }
    guard let opcode = bytes.first else { return .invalidAttributeValueLength }
    switch opcode {
    case 0x01: start(bytes)
    case 0x02: takeInitPacket(bytes)
    case 0x03: receive()
    case 0x04: validate()
    case 0x05: activate()
    case 0x06: request = .reset
    case 0x08: setReceipts(bytes)
    // InfiniTime ignores unknown requests.
    default: break
    }
    return nil
  }

  private mutating func start(_ bytes: [UInt8]) {
    guard phase == .idle else { return answer(0x01, .invalidState) }
    guard bytes.count == 2, bytes[1] == Self.applicationType else {
      return answer(0x01, .notSupported)
    }
    phase = .sizes
  }

  /// Handles an init packet request: the value 0 starts the init packet, 1 ends it.
  private mutating func takeInitPacket(_ bytes: [UInt8]) {
    switch (phase, bytes.dropFirst().first) {
    case (.ready, 0): phase = .initPacket([])
    case (.initPacket(let bytes), 1): judge(bytes)
    default: answer(0x02, .invalidState)
    }
  }

  private mutating func judge(_ bytes: [UInt8]) {
    guard let packet = LegacyInitPacket(decoding: bytes) else {
      phase = .ready
      return answer(0x02, .wrongChecksum)
    }
    initPacket = packet
    phase = .initialized
    answer(0x02, .success)
  }

  private mutating func receive() {
    guard phase == .initialized else { return answer(0x03, .invalidState) }
    phase = .receiving
  }

  private mutating func validate() {
    guard phase == .received else { return answer(0x04, .invalidState) }
    phase = .validating
    validateWhenIdle()
  }

  private mutating func validateWhenIdle() {
    guard phase == .validating, queue.isIdle else { return }
    guard let bytes = imageInFlash(), CRC16.checksum(bytes) == initPacket?.crc16 else {
      phase = .idle
      return answer(0x04, .wrongChecksum)
    }
    phase = .validated
    answer(0x04, .success)
  }

  private mutating func activate() {
    guard phase == .validated, let bytes = imageInFlash() else {
      return answer(0x05, .invalidState)
    }
    phase = .activating
    let image = SlotImage(describing: bytes)
    var next = bootRecord
    next.markPending(image)
    next.sequence += 1
    let isQueued = queue.offer(loader.operations(storing: next), for: .activation(image))
    precondition(isQueued, "the queue was idle")
  }

  private mutating func setReceipts(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return answer(0x08, .notSupported) }
    // InfiniTime reads only the low byte.
    receiptTarget = Int(bytes[1])
    packetsUntilReceipt = receiptTarget
  }

  mutating func answer(_ opcode: UInt8, _ status: LegacyStatus) {
    responses.append([0x10, opcode, status.rawValue])
  }

  // MARK: Flash

  mutating func flashDone(_ isDone: Bool) {
    switch queue.finishedOne() {
    case .erase:
      // The host that requested the erase may have disconnected.
      guard phase == .erasing else { break }
      phase = .ready
      answer(0x01, .success)
    case .packet: packetsInFlash -= 1
    case .activation(let image): request = .activate(image)
    case nil: break
    }
    validateWhenIdle()
  }

  // MARK: Ends of a transfer

  /// Discards the transfer, unless a reset or an activation is requested. The received data stays
  /// in flash until the next transfer erases it.
  mutating func disconnected() {
    guard request == nil, phase != .activating else { return }
    phase = .idle
    isNotifying = false
    responses.removeAll()
  }

  var silenceLimit: Duration? { phase == .receiving ? Self.stallLimit : nil }

  /// Discards the transfer; the watch keeps running.
  mutating func silenceTooLong() -> Bool {
    phase = .idle
    return false
  }

  private func imageInFlash() -> [UInt8]? {
    do throws(FlashFault) {
      return try parts.flash.read(slot..<slot + imageSize)
    } catch {
      parts.note(error)
      return nil
    }
  }
}
