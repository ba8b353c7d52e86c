import OTAReceiver
import OtaflashFirmware
import OtaflashGATT

/// The portable receiver of one boot of a board: the receiver in C with the memory and the
/// callbacks of its firmware. The type is a class because an instance stores pointers to itself.
/// Only one caller may use an instance at a time: hold a lock during every call, including the
/// callbacks that the receiver calls.
final class ReceiverMachine {
  /// A message for the stack to send.
  enum Outgoing: Hashable, Sendable {
    case answer([UInt8])
    case status([UInt8])
  }

  /// The maximum number of messages that wait for the stack; if the queue is full, the receiver
  /// offers a message again.
  static let outgoingMaximum = 8

  private let receiver = UnsafeMutablePointer<ota_receiver>.allocate(capacity: 1)
  private let config = UnsafeMutablePointer<ota_receiver_config>.allocate(capacity: 1)
  private let ring: UnsafeMutablePointer<UInt8>
  private let page: UnsafeMutablePointer<UInt8>
  fileprivate let flash: SimulatedFlash
  /// The address range of the running image in flash.
  private let base: Range<Int>
  private var baseReads = 0
  private let kind: ReceiverOptions
  /// The previous image.
  private let former: SlotImage
  private var dataWrites = 0
  fileprivate let authorization: Authorization?
  fileprivate let mayBegin: @Sendable () -> Bool
  fileprivate let confirmTrial: @Sendable () -> Bool
  fileprivate var random: SeededRandom
  private var outgoing: [Outgoing] = []
  /// The pending flash operation of the receiver.
  private(set) var operation: FlashOperation?
  fileprivate var begun: (version: UInt32, hardware: UInt32) = (0, 0)
  /// The image to start after the reset; set when ACTIVATE is done.
  fileprivate(set) var activation: SlotImage?

  init(
    settings: BoardSettings, kind: ReceiverOptions, record: BootRecord,
    outcome: Bootloader.Outcome, flash: SimulatedFlash, random: SeededRandom,
    slotSize: Int? = nil, mayBegin: @escaping @Sendable () -> Bool = { true },
    confirmTrial: @escaping @Sendable () -> Bool
  ) {
    (self.flash, self.kind) = (flash, kind)
    former = record.images[record.inactive]
    let start = settings.layout.slot(record.active)
    base = start..<start + Int(record.images[record.active].size)
    self.random = random
    self.mayBegin = mayBegin
    self.confirmTrial = confirmTrial
    authorization = settings.key.map { Authorization(key: $0, hardware: settings.hardware) }
    ring = .allocate(capacity: settings.ringSize)
    ring.initialize(repeating: 0, count: settings.ringSize)
    page = .allocate(capacity: settings.layout.pageSize)
    page.initialize(repeating: 0, count: settings.layout.pageSize)
    receiver.initialize(to: ota_receiver())
    config.initialize(to: ota_receiver_config())
    setMemory(settings, slot: record.inactive, size: slotSize ?? settings.slotSize)
    setRunning(
      record.images[record.active], hardware: settings.hardware, outcome,
      onTrial: record.isOnTrial)
    setCallbacks()
    setOptions()
    let isConfigured = ota_receiver_init(receiver, config)
    precondition(isConfigured, "the receiver rejected its configuration")
  }

  deinit {
    receiver.deallocate()
    config.deallocate()
    ring.deallocate()
    page.deallocate()
  }

  private func setMemory(_ settings: BoardSettings, slot: Int, size: Int) {
    let layout = settings.layout
    config.pointee.ring = ring
    config.pointee.ring_size = UInt32(settings.ringSize)
    config.pointee.largest_chunk = UInt16(settings.largestChunk)
    config.pointee.slot_address = UInt32(layout.slot(slot))
    config.pointee.slot_size = UInt32(size)
    config.pointee.page_size = UInt32(layout.pageSize)
    config.pointee.row_size = UInt32(settings.rowSize)
    config.pointee.write_alignment = UInt8(flash.geometry.writeAlignment)
    config.pointee.metadata_address = (UInt32(layout.metadata[0]), UInt32(layout.metadata[1]))
  }

  private func setRunning(
    _ image: SlotImage, hardware: HardwareID, _ outcome: Bootloader.Outcome, onTrial: Bool
  ) {
    config.pointee.running = ota_image(
      size: image.size, crc32: image.crc32, version: image.version.word,
      hardware_id: hardware.rawValue)
    config.pointee.boot_outcome = outcome.rawValue
    config.pointee.trial = onTrial
  }
}

extension BoardSettings {
  /// The maximum number of image bytes in one data write: the ATT_MTU without the write's header,
  /// or the maximum length of an attribute if this is shorter, without the offset.
  var largestChunk: Int { min(mtu - 3, 512) - Self.offsetBytes }

  /// The size of the offset that precedes the image bytes in a data write.
  static let offsetBytes = 4
}

// MARK: Events of the stack

extension ReceiverMachine {
  func connected() { ota_receiver_connected(receiver) }

  func disconnected() {
    outgoing.removeAll()
    ota_receiver_disconnected(receiver)
  }

  func controlConfigured(_ value: UInt16) { ota_receiver_control_cccd(receiver, value) }

  func statusConfigured(_ value: UInt16) { ota_receiver_status_cccd(receiver, value) }

  func controlWritten(_ bytes: [UInt8]) -> UInt8 {
    ota_receiver_control_write(receiver, bytes, UInt32(bytes.count))
  }

  func dataWritten(_ bytes: [UInt8], withResponse: Bool) -> UInt8 {
    let arrived = asItArrives(bytes)
    return ota_receiver_data_write(receiver, arrived, UInt32(arrived.count), withResponse)
  }

  /// Returns the bytes of a data write, with a bit error in the write that the profile selects. The
  /// CRC of a link detects almost all bit errors of the radio; bit errors can still occur in the
  /// memory of the host or the device.
  private func asItArrives(_ bytes: [UInt8]) -> [UInt8] {
    dataWrites += 1
    guard dataWrites == kind.flippedWrite, !bytes.isEmpty else { return bytes }
    var bytes = bytes
    let bit = Int.random(in: 0..<8 * bytes.count, using: &random)
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    return bytes
  }

  func status() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(OTA_STATUS_SIZE)) { buffer, count in
      guard let base = buffer.baseAddress else {
        preconditionFailure("16 bytes have an address")
      }
      ota_receiver_status_read(receiver, base)
      count = Int(OTA_STATUS_SIZE)
    }
  }

  func indicationConfirmed() { ota_receiver_indication_confirmed(receiver) }
}

// MARK: The main loop

extension ReceiverMachine {
  /// Does pending work. Returns the messages to send, and the time until the next poll; `nil` =
  /// after the next event.
  func poll(at now: LinkInstant) -> (outgoing: [Outgoing], wait: Duration?) {
    let wait = ota_receiver_poll(receiver, Self.milliseconds(now))
    defer { outgoing.removeAll() }
    return (outgoing, wait == .max ? nil : .milliseconds(Int(wait)))
  }

  private static func milliseconds(_ now: LinkInstant) -> UInt32 {
    let (seconds, attoseconds) = now.elapsed.components
    return UInt32(truncatingIfNeeded: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
  }

  /// The time that the processor needed to create the bytes of the pending flash operation.
  var decodingTime: Duration {
    guard case .write(let bytes, at: let address) = operation, let rate = kind.decodingRate,
      slot.contains(address), receiver.pointee.patch.held.size > 0
    else { return .zero }
    return .seconds(Double(bytes.count) / Double(rate))
  }

  private var slot: Range<Int> {
    let start = Int(config.pointee.slot_address)
    return start..<start + Int(config.pointee.slot_size)
  }

  /// Handles the end of the flash operation.
  func flashDone(_ isDone: Bool) {
    operation = nil
    ota_receiver_flash_done(receiver, isDone)
  }
}

// MARK: Callbacks

extension ReceiverMachine {
  private func setCallbacks() {
    config.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    setFlashCallbacks()
    setStackCallbacks()
    config.pointee.activate = { context, size, crc32 in
      let machine = ReceiverMachine.from(context)
      machine.activation = SlotImage(
        size: size, crc32: crc32, version: FirmwareVersion(word: machine.begun.version),
        hardware: HardwareID(machine.begun.hardware))
    }
    config.pointee.confirm = { context in ReceiverMachine.from(context).confirmTrial() }
    config.pointee.may_begin = { context, _, version, hardware in
      let machine = ReceiverMachine.from(context)
      machine.begun = (version, hardware)
      return machine.mayBegin()
    }
    if authorization != nil { setAuthorizationCallbacks() }
  }

  private func setFlashCallbacks() {
    config.pointee.flash_read = { context, address, to, size in
      ReceiverMachine.from(context).read(Int(address), Int(size), to: to)
    }
    config.pointee.flash_write = { context, address, from, size in
      let bytes = [UInt8](UnsafeBufferPointer(start: from, count: Int(size)))
      return ReceiverMachine.from(context).start(.write(bytes, at: Int(address)))
    }
    config.pointee.flash_erase = { context, address in
      ReceiverMachine.from(context).start(.erase(page: Int(address)))
    }
  }

  /// Sets the options and the optional callbacks. `may_erase` always permits an erase, because the
  /// receiver itself keeps the old image until the trial of the new image has ended.
  private func setOptions() {
    config.pointee.erase_ahead = kind.erasesAhead
    if kind.keepsPages && !kind.erasesAhead { config.pointee.page_buffer = page }
    config.pointee.may_erase = { _ in true }
    config.pointee.patches = kind.takesPatches
    let units = (kind.decodingRate ?? 0) / Int(OTA_DECODE_UNIT)
    config.pointee.decode_rate = UInt8(clamping: units)
    guard kind.base != .lost else { return }
    config.pointee.base_read = { context, offset, to, size in
      ReceiverMachine.from(context).readBase(Int(offset), Int(size), to: to)
    }
  }

  private func readBase(_ offset: Int, _ size: Int, to: UnsafeMutablePointer<UInt8>?) -> Bool {
    guard read(base.lowerBound + offset, size, to: to) else { return false }
    baseReads += size
    let isWrong = kind.base == .damaged || kind.base == .spoilt && baseReads > base.count
    if isWrong { to?.pointee ^= 0x10 }
    return true
  }

  /// Returns the answer to PATCH INFO with the patch formats of the profile, and with the previous
  /// image if the profile requires this. The answer is 8D, result, formats, codecs (2 bytes),
  /// 6 bytes, size and CRC32 of the running image, and the decoding rate.
  private func reported(_ answer: [UInt8]) -> [UInt8] {
    guard answer.count == 20, answer[0] == 0x8D else { return answer }
    var answer = answer
    if kind.patchLevel < 2 { answer[2] &= ~4 }
    if kind.patchLevel < 3 { answer[4] &= ~1 }
    guard kind.base == .former, former.size > 0 else { return answer }
    let state = former.size.littleEndianBytes + former.crc32.littleEndianBytes
    return Array(answer[..<11]) + state + Array(answer[19...])
  }

  private func read(_ start: Int, _ size: Int, to: UnsafeMutablePointer<UInt8>?) -> Bool {
    do throws(FlashFault) {
      let bytes = try flash.read(start..<start + size)
      guard let to else { return size == 0 }
      to.update(from: bytes, count: bytes.count)
      return true
    } catch {
      return false
    }
  }

  private func setStackCallbacks() {
    config.pointee.indicate_control = { context, bytes, size in
      let copy = [UInt8](UnsafeBufferPointer(start: bytes, count: Int(size)))
      let machine = ReceiverMachine.from(context)
      return machine.queue(.answer(machine.reported(copy)))
    }
    config.pointee.notify_status = { context, bytes in
      let copy = [UInt8](UnsafeBufferPointer(start: bytes, count: Int(OTA_STATUS_SIZE)))
      return ReceiverMachine.from(context).queue(.status(copy))
    }
  }

  private func setAuthorizationCallbacks() {
    config.pointee.random = { context, to in
      let bytes = ReceiverMachine.from(context).random.bytes(count: Int(OTA_CHALLENGE_SIZE))
      to?.update(from: bytes, count: bytes.count)
    }
    config.pointee.check_proof = { context, challenge, proof in
      ReceiverMachine.from(context).authorization?.accepts(
        proof: UnsafeBufferPointer(start: proof, count: Int(OTA_PROOF_SIZE)),
        for: UnsafeBufferPointer(start: challenge, count: Int(OTA_CHALLENGE_SIZE)))
        ?? false
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> ReceiverMachine {
    guard let context else { preconditionFailure("the receiver lost its context") }
    return Unmanaged<ReceiverMachine>.fromOpaque(context).takeUnretainedValue()
  }

  private func start(_ operation: FlashOperation) -> ota_flash_result {
    precondition(self.operation == nil, "the receiver has one flash operation at a time")
    self.operation = operation
    return OTA_FLASH_PENDING
  }

  private func queue(_ item: Outgoing) -> Bool {
    guard outgoing.count < Self.outgoingMaximum else { return false }
    outgoing.append(item)
    return true
  }
}
