import OtaflashFirmware
import OtaflashGATT

/// The rules of the Partial Flashing Service (README.md in this folder), independent of link and
/// clock.
struct MicrobitMachine: Sendable {
  /// Work for the message bus, which performs one event at a time after the packets of the link.
  enum Event: Equatable, Sendable {
    case block, end, restartIntoPairing
  }

  /// A request to the device.
  enum Request: Equatable, Sendable {
    case reset
    case restartIntoPairing
    case activate(SlotImage)
  }

  enum FlashPurpose: Sendable {
    case block
    case end(SlotImage)
  }

  static let blockSize = 64
  private static let packetSize = 16
  private static let eventsMaximum = 64

  let settings: MicrobitSettings
  let parts: BoardParts
  let isPairing: Bool
  let loader: Bootloader
  var bootRecord: BootRecord
  /// Whether a transfer has started and not ended: the device then boots into pairing mode.
  var isIncomplete: Bool
  /// The pending notifications, in order.
  var notices: [[UInt8]] = []
  private(set) var request: Request?
  var queue = FlashQueue<FlashPurpose>(capacity: 1)

  // The variables of `MicroBitPartialFlashingService`.
  private(set) var block = [UInt8](repeating: 0xFF, count: blockSize)
  private var packetCount: UInt8 = 0
  private var blockPacketCount: UInt8 = 0
  private var blockNum = 0
  private(set) var offset = 0
  private var events: [Event] = []
  /// The end address of the highest written block that is not blank, in the simulated flash.
  private var writtenEnd = 0
  private var waitsForRequest: SlotImage?

  init(
    _ settings: MicrobitSettings, bootRecord: BootRecord, isPairing: Bool, isIncomplete: Bool,
    parts: BoardParts
  ) {
    (self.settings, self.bootRecord, self.parts) = (settings, bootRecord, parts)
    (self.isPairing, self.isIncomplete) = (isPairing, isIncomplete)
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
  }

  // MARK: Packets

  /// Handles a write, which never waits for the flash.
  mutating func written(_ bytes: [UInt8]) {
    guard request == nil, let command = bytes.first else { return }
    switch command {
    case 0x00 where bytes.count >= 2: region(Int(bytes[1]))
    case 0x01 where bytes.count == 4 + Self.packetSize: data(bytes)
    case 0x02: offer(.end)
    case 0xEE: notices.append([0xEE, 1, isPairing ? 0 : 1])
    case 0xFF where bytes.count >= 2: restart(bytes[1])
    default: break
    }
  }

  private mutating func restart(_ mode: UInt8) {
    switch mode {
    case 0: offer(.restartIntoPairing)
    case 1: request = waitsForRequest.map { .activate($0) } ?? .reset
    default: break
    }
  }

  /// Reports a region, and restarts the numbers of packets.
  private mutating func region(_ index: Int) {
    guard let region = regions[safe: index] else { return }
    notices.append(
      [0, UInt8(index)] + Self.bigEndian(region.start) + Self.bigEndian(region.end) + region.hash)
    (packetCount, blockPacketCount, blockNum, offset) = (0, 0, 0, 0)
  }

  private mutating func data(_ bytes: [UInt8]) {
    let number = bytes[3]
    guard number == packetCount else {
      let isEarlier =
        number < packetCount ? packetCount - number < 8 : number - packetCount > 248
      if isEarlier { return }
      notices.append([0x01, 0xAA])
      blockPacketCount &+= 4
      packetCount = blockPacketCount
      blockNum = 0
      return
    }
    packetCount &+= 1
    let start = blockNum * Self.packetSize
    block.replaceSubrange(start..<start + Self.packetSize, with: bytes[4...])
    let half = Int(bytes[1]) << 8 | Int(bytes[2])
    switch blockNum {
    case 0: (offset, blockNum) = (half, 1)
    case 1: (offset, blockNum) = (offset | half << 16, 2)
    case 2: blockNum = 3
    default:
      offer(.block)
      blockNum = 0
      blockPacketCount &+= 4
    }
  }

  // MARK: The message bus

  private mutating func offer(_ event: Event) {
    guard events.count < Self.eventsMaximum else { return }
    events.append(event)
    performEvents()
  }

  /// Performs the waiting events. An event uses the content of the buffer when it starts, not
  /// when it was offered.
  private mutating func performEvents() {
    while queue.isIdle, request == nil, !events.isEmpty {
      switch events.removeFirst() {
      case .block: writeBlock()
      case .end: end()
      case .restartIntoPairing: request = .restartIntoPairing
      }
    }
  }

  private mutating func writeBlock() {
    guard let address = flashAddress else { return fail() }
    let first = isIncomplete ? [] : startOperations()
    var operations = first
    let page = address / pageSize * pageSize
    if address == page, !first.contains(.erase(page: page)), !isBlank(page..<page + pageSize) {
      operations.append(.erase(page: page))
    }
    guard let write = write(at: address, after: operations) else { return fail() }
    isIncomplete = true
    waitsForRequest = nil
    // A blank block, which only erases a page, does not belong to the program.
    if block.contains(where: { $0 != 0xFF }) {
      writtenEnd = max(writtenEnd, address + Self.blockSize)
    }
    perform(operations + write, for: .block)
  }

  /// Ends the transfer: writes the last block again, and clears the mark of an incomplete script.
  private mutating func end() {
    guard let address = flashAddress, let write = write(at: address, after: []) else {
      return fail()
    }
    guard let bytes = read(slot..<max(writtenEnd, slot)) else { return fail() }
    let image = SlotImage(describing: bytes)
    bootRecord.images[bootRecord.active] = image
    bootRecord.sequence += 1
    perform(
      write + loader.operations(storing: bootRecord) + [.erase(page: markPage)], for: .end(image))
  }

  /// Stores the mark of an incomplete script, and erases the file system of MicroPython.
  private func startOperations() -> [FlashOperation] {
    let mark: [FlashOperation] = [.erase(page: markPage), .write([1, 0, 0, 0], at: markPage)]
    guard let script = installed, script.origin == .microPython else { return mark }
    let area = script.area
    let pages = stride(
      from: simulated(area.lowerBound), to: simulated(area.upperBound), by: pageSize)
    return mark
      + pages.filter { !isBlank($0..<$0 + pageSize) }.map { FlashOperation.erase(page: $0) }
  }

  private mutating func perform(_ operations: [FlashOperation], for purpose: FlashPurpose) {
    guard !operations.isEmpty else { return done(purpose) }
    let isQueued = queue.offer(operations, for: purpose)
    precondition(isQueued, "an event starts only if the flash is idle")
  }

  /// Handles the end of a flash operation. The service does not read its flash back.
  mutating func flashDone(_ isDone: Bool) {
    guard let purpose = queue.finishedOne() else { return }
    done(purpose)
    performEvents()
  }

  private mutating func done(_ purpose: FlashPurpose) {
    switch purpose {
    case .block: notices.append([0x01, 0xFF])
    case .end(let image):
      isIncomplete = false
      if settings.waitsForRestart { waitsForRequest = image } else { request = .activate(image) }
    }
  }

  /// Resets the device, because the flash cannot be written or read.
  private mutating func fail() { request = .reset }

  mutating func disconnected() { notices.removeAll() }

  mutating func pairingExpired() { if request == nil { request = .reset } }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
