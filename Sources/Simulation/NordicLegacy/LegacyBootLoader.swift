import OtaflashATT
import OtaflashFirmware

/// The state machine of Nordic's legacy DFU (SDK 11), and what InfiniTime makes of it. It knows no
/// link and no clock.
struct LegacyBootLoader: DFUMachine {
  /// Data packets that wait for the flash.
  static let packetBuffers = 8
  /// Operations of the flash that may be queued, the running one among them.
  static let flashOperations = 32
  /// The longest data packet; a longer one overruns the buffer.
  static let packetOctetsMaximum = 20
  static let initPacketOctetsMaximum = 64
  /// Octets of an image that InfiniTime has room for.
  static let infinitimeImageMaximum = 475_136
  /// Application images; 1…3 are SoftDevices and boot loaders.
  private static let applicationType: UInt8 = 4
  /// InfiniTime gives a transfer up after so long without a packet.
  private static let stallLimit = Duration.seconds(10)
  static let packetsBreakSilence = true

  enum Phase: Equatable, Sendable {
    case idle
    /// The sizes are to come on Packet.
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

  enum Status: UInt8, Sendable {
    case success = 1
    case invalidState = 2
    case notSupported = 3
    case sizeExceedsLimit = 4
    case wrongChecksum = 5
    case failed = 6
  }

  enum FlashPurpose: Sendable {
    case erase
    case packet
    case activation(SlotImage)
  }

  let parts: BoardParts
  let settings: LegacyBootLoaderSettings
  let loader: BootLoader
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

  init(_ settings: LegacyBootLoaderSettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    let layout = parts.profile.layout
    loader = BootLoader(flash: parts.flash, layout: layout)
    slot = layout.slot(bootRecord.inactive)
    queue = FlashQueue(capacity: Self.flashOperations)
  }

  var isInfiniTime: Bool { settings.variant == .infinitime }

  var imageMaximum: Int {
    let slotSize = parts.profile.slotSize
    return isInfiniTime ? min(slotSize, Self.infinitimeImageMaximum) : slotSize
  }

  // MARK: The Control Point

  mutating func controlWritten(_ bytes: [UInt8]) -> ATTErrorCode? {
    if settings.isDisabled { return .insufficientAuthorization }
    guard isNotifying || isInfiniTime else { return .clientConfigurationImproperlyConfigured }
    guard let opcode = bytes.first else { return .invalidAttributeValueLength }
    switch opcode {
    case 0x01: start(bytes)
    case 0x02: takeInitPacket(bytes)
    case 0x03: receive()
    case 0x04: validate()
    case 0x05: activate()
    case 0x06: request = .reset
    case 0x07: answer(0x07, .success, UInt32(received).littleEndianOctets)
    case 0x08: setReceipts(bytes)
    default: answer(opcode, .notSupported)
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

  /// 0 begins the init packet, 1 ends it.
  private mutating func takeInitPacket(_ bytes: [UInt8]) {
    switch (phase, bytes.dropFirst().first) {
    case (.ready, 0): phase = .initPacket([])
    case (.initPacket(let octets), 1): judge(octets)
    default: answer(0x02, .invalidState)
    }
  }

  private mutating func judge(_ octets: [UInt8]) {
    guard let packet = LegacyInitPacket(decoding: octets), isInfiniTime || packet.fits(settings)
    else {
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
    // InfiniTime looks at the low octet alone.
    let high = bytes.count > 2 && !isInfiniTime ? Int(bytes[2]) : 0
    receiptTarget = Int(bytes[1]) | high << 8
    packetsUntilReceipt = receiptTarget
  }

  mutating func answer(_ opcode: UInt8, _ status: Status, _ payload: [UInt8] = []) {
    responses.append([0x10, opcode, status.rawValue] + payload)
  }

  // MARK: Flash

  mutating func flashDone(_ isDone: Bool) {
    switch queue.finishedOne() {
    case .erase:
      // The host that asked for it may be gone.
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

  /// Forgets the transfer; what lies in flash is erased by the next.
  mutating func disconnected() {
    guard request == nil, phase != .activating else { return }
    phase = .idle
    isNotifying = false
    responses.removeAll()
  }

  var silenceLimit: Duration? {
    switch settings.variant {
    case .sdk11: settings.inactivity
    case .infinitime: phase == .receiving ? Self.stallLimit : nil
    }
  }

  /// The boot loader resets; in InfiniTime the transfer starts over.
  mutating func silenceTooLong() -> Bool {
    if isInfiniTime { phase = .idle }
    return !isInfiniTime
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
