import Crypto
import OtaflashATT
import OtaflashFirmware

/// The request handler of Nordic's Secure DFU boot loader (SDK 15): what its two characteristics
/// take, what it answers, and what it has the flash do. It knows no link and no clock.
struct SecureBootLoader: Sendable {
  /// Packets of any size that the boot loader holds until they are in flash.
  static let packetBuffers = 17
  /// Operations of the flash that may be queued, the running one among them.
  static let flashOperations = 16
  /// The longest value of the Control Point.
  static let controlOctetsMaximum = 23

  /// What has to happen to the device.
  enum Request: Equatable, Sendable {
    case reset
    /// The image is whole and proven, and the settings say so.
    case activate(SlotImage)
  }

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
  let settings: SecureBootLoaderSettings
  /// Where the image goes.
  let slot: Int
  let pages: RecordPages
  let bootPages: BootLoader
  var record: SecureRecord
  var sequence: UInt32
  let bootRecord: BootRecord
  var lies: SecureLies

  var isNotifying = false
  var currentType: ObjectType?
  var initPacket: [UInt8] = []
  var initPacketSize = 0
  /// What of the image has been queued for the flash, and what of it was executed.
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
  private(set) var request: Request?

  /// Starts with what the settings page holds.
  init(
    _ settings: SecureBootLoaderSettings, record: SecureRecord, sequence: UInt32,
    bootRecord: BootRecord, lies: SecureLies, parts: BoardParts
  ) {
    self.settings = settings
    self.record = record
    self.sequence = sequence
    self.bootRecord = bootRecord
    self.lies = lies
    self.parts = parts
    let layout = parts.profile.layout
    slot = layout.slot(settings.banks == .dual ? bootRecord.inactive : bootRecord.active)
    pages = RecordPages(flash: parts.flash, pages: layout.metadata)
    bootPages = BootLoader(flash: parts.flash, layout: layout)
    initPacket = record.initPacket
    initPacketSize = initPacket.count
    image = Self.decoded(initPacket)
  }

  /// The image's octets; 0 before a valid init packet.
  var imageSize: Int { image?.imageSize ?? 0 }

  // MARK: The Control Point

  /// A write to the Control Point.
  ///
  /// - Returns: why it is refused on the level of attributes.
  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard isNotifying else { return .clientConfigurationImproperlyConfigured }
    guard (1...Self.controlOctetsMaximum).contains(bytes.count) else {
      return .invalidAttributeValueLength
    }
    switch bytes[0] {
    case 0x01: answerCreate(bytes)
    case 0x02: answerReceiptTarget(bytes)
    case 0x03: answerChecksum()
    case 0x04: execute()
    case 0x06: answerSelect(bytes)
    // The transport sends the header of these answers and none of their payload.
    case 0x00, 0x07, 0x09, 0x0A, 0x0B: succeed(bytes[0])
    case 0x0C:
      succeed(0x0C)
      request = .reset
    default: fail(bytes[0], .operationNotSupported)
    }
    return nil
  }

  private mutating func answerCreate(_ bytes: [UInt8]) {
    guard bytes.count == 6 else { return fail(0x01, .invalidParameter) }
    guard let type = ObjectType(rawValue: bytes[1]) else { return fail(0x01, .unsupportedType) }
    currentType = type
    packetsUntilReceipt = receiptTarget
    let size = Int(bytes.littleEndianWord(at: 2))
    switch type {
    case .command: createInitPacket(size)
    case .data: createData(size)
    }
  }

  private mutating func createInitPacket(_ size: Int) {
    guard size > 0 else { return fail(0x01, .invalidParameter) }
    guard size <= settings.initPacketMaximum else { return fail(0x01, .insufficientResources) }
    (queued, executed, objectSize) = (Progress(), Progress(), 0)
    (initPacket, initPacketSize, image) = ([], size, nil)
    succeed(0x01)
  }

  private mutating func createData(_ size: Int) {
    guard image != nil else { return fail(0x01, .operationNotPermitted) }
    let end = executed.offset + size
    let pageSize = parts.profile.layout.pageSize
    guard size > 0, size.isMultiple(of: pageSize) || end == imageSize else {
      return fail(0x01, .invalidParameter)
    }
    guard size <= settings.dataObjectMaximum else { return fail(0x01, .insufficientResources) }
    guard end <= imageSize else { return fail(0x01, .operationNotPermitted) }
    guard eraseObject(size) else { return fail(0x01, .operationFailed) }
    objectSize = size
    queued = executed
    // The answer does not wait for the erase.
    succeed(0x01)
  }

  private mutating func eraseObject(_ size: Int) -> Bool {
    if settings.banks == .single, !record.isApplicationGone {
      record.isApplicationGone = true
      guard storeRecord(for: .settings) else { return false }
    }
    let pageSize = parts.profile.layout.pageSize
    let start = slot + executed.offset
    let pages = stride(from: start, to: start + size, by: pageSize)
    return queue.offer(pages.map { .erase(page: $0) }, for: .erase)
  }

  private mutating func answerReceiptTarget(_ bytes: [UInt8]) {
    guard bytes.count == 3 else { return fail(0x02, .invalidParameter) }
    receiptTarget = Int(bytes.littleEndianHalfword(at: 1))
    packetsUntilReceipt = receiptTarget
    succeed(0x02)
  }

  private mutating func answerSelect(_ bytes: [UInt8]) {
    guard bytes.count == 2 else { return fail(0x06, .invalidParameter) }
    guard let type = ObjectType(rawValue: bytes[1]) else { return fail(0x06, .unsupportedType) }
    currentType = type
    let maximum =
      type == .command ? settings.initPacketMaximum : settings.dataObjectMaximum
    succeed(0x06, UInt32(maximum).littleEndianOctets + progress(of: type).octets)
  }

  private mutating func answerChecksum() {
    guard let currentType else { return fail(0x03, .unsupportedType) }
    succeed(0x03, progress(of: currentType).octets)
  }

  private mutating func progress(of type: ObjectType) -> Progress {
    switch type {
    case .command:
      Progress(offset: initPacket.count, crc32: CRC32.checksum(initPacket))
    case .data: lies.altered(queued, of: imageSize)
    }
  }

  // MARK: Execute

  private mutating func execute() {
    switch currentType {
    case .command: executeInitPacket()
    case .data:
      isExecutePending = true
      executeDataWhenIdle()
    case nil: fail(0x04, .unsupportedType)
    }
  }

  private mutating func executeInitPacket() {
    guard initPacketSize > 0, initPacket.count == initPacketSize else {
      return fail(0x04, .operationNotPermitted)
    }
    guard image == nil else { return succeed(0x04) }
    let check = InitPacketCheck(
      key: parts.profile.key, settings: settings, applicationVersion: record.applicationVersion,
      bootLoaderVersion: record.bootLoaderVersion, room: parts.profile.slotSize)
    if let refusal = check.refusal(of: initPacket) { return fail(0x04, refusal) }
    image = Self.decoded(initPacket)
    record.initPacket = initPacket
    guard storeRecord(for: .settings) else { return fail(0x04, .operationFailed) }
    succeed(0x04)
  }

  /// The one answer that waits for the flash.
  private mutating func executeDataWhenIdle() {
    guard isExecutePending, queue.isIdle else { return }
    isExecutePending = false
    guard let image, queued.offset - executed.offset == objectSize else {
      return fail(0x04, .operationNotPermitted)
    }
    executed = queued
    guard queued.offset == imageSize else { return succeed(0x04) }
    finish(image)
  }

  /// The last object: the image must have the hash that the init packet promised.
  private mutating func finish(_ image: InitPacket) {
    guard let bytes = imageInFlash(), Array(SHA256.hash(data: bytes).reversed()) == image.hash
    else {
      (queued, executed, objectSize) = (Progress(), Progress(), 0)
      (initPacket, initPacketSize, self.image) = ([], 0, nil)
      record.initPacket = []
      guard storeRecord(for: .settings) else { return fail(0x04, .operationFailed) }
      return fail(0x04, .extended(.hashMismatch))
    }
    succeed(0x04)
    let isApplication = image.type == InitPacket.ImageType.application.rawValue
    record.pending = isApplication ? .application : .system
    record.pendingVersion = UInt32(truncatingIfNeeded: image.firmwareVersion ?? 0)
    record.initPacket = []
    let described = SlotImage(describing: bytes)
    var next = bootRecord
    if isApplication { next.markPending(described, inPlace: settings.banks == .single) }
    next.sequence += 1
    let isQueued =
      storeRecord(for: .settings)
      && queue.offer(bootPages.operations(storing: next), for: .activation(described))
    precondition(isQueued, "the queue was idle")
  }

  private func imageInFlash() -> [UInt8]? {
    do throws(FlashFault) {
      return try parts.flash.read(slot..<slot + imageSize)
    } catch {
      parts.note(error)
      return nil
    }
  }

  // MARK: Answers

  mutating func succeed(_ opcode: UInt8, _ payload: [UInt8] = []) {
    responses.append([0x60, opcode, 0x01] + payload)
  }

  mutating func fail(_ opcode: UInt8, _ result: SecureResult) {
    responses.append([0x60, opcode] + result.octets)
  }

  // MARK: Flash

  mutating func storeRecord(for purpose: FlashPurpose) -> Bool {
    let operations = pages.operations(storing: record.encoded, sequence: sequence + 1)
    guard queue.offer(operations, for: purpose) else { return false }
    sequence += 1
    return true
  }

  /// The running flash operation has ended.
  mutating func flashDone(_ isDone: Bool) {
    switch queue.finishedOne() {
    case .packet: buffersInUse -= 1
    case .activation(let image): request = .activate(image)
    case .erase, .settings, nil: break
    }
    executeDataWhenIdle()
  }

  static func decoded(_ octets: [UInt8]) -> InitPacket? {
    guard !octets.isEmpty else { return nil }
    do throws(InitPacket.Fault) { return try InitPacket(decoding: octets) } catch { return nil }
  }
}

extension SecureBootLoader.Progress {
  var octets: [UInt8] { UInt32(offset).littleEndianOctets + crc32.littleEndianOctets }
}
