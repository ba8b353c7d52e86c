import OtaflashATT
import OtaflashFirmware

/// The rules of the SUOTA receivers (README.md in this folder), independent of link and clock. The
/// processor writes its flash synchronously: writes of the host wait in a pool meanwhile.
struct SUOTAServer: Sendable {
  /// The status codes of the service.
  enum Status: UInt8, Sendable {
    case blockDone = 0x02
    case exit = 0x03
    case checksum = 0x04
    case patchLength = 0x05
    case flashWrite = 0x06
    case bufferTooSmall = 0x07
    case memoryType = 0x08
    case application = 0x09
    case started = 0x10
    case bank = 0x11
    case header = 0x12
    case size = 0x13
    case sameImage = 0x15
    case flashRead = 0x16
  }

  /// A write of the host that is not processed yet.
  enum Incoming: Sendable {
    case memoryDevice(UInt32)
    case pins(UInt32)
    case patchLength(Int)
    case data([UInt8])

    var size: Int { if case .data(let bytes) = self { bytes.count } else { 4 } }
  }

  /// The state from one start of a transfer to the next.
  struct Transfer: Sendable {
    let memory: UInt8
    /// The bytes of the current block, or of the buffer of a stream.
    var buffer: [UInt8] = []
    var header: SUOTAHeader?
    /// The bytes of the image in flash, including those that wait for a complete word.
    var image: [UInt8] = []
    /// The number of these bytes that flash operations cover, 0 or a multiple of 4.
    var written = 0
    /// The number of erased bytes of the slot.
    var erased = 0
    /// The XOR of all received bytes.
    var checksum: UInt8 = 0
    /// The number of received bytes.
    var received = 0
    /// The number of bytes since the last status of a stream.
    var unreported = 0
    /// Whether a stream reports blocks: only after PATCH_LEN was written.
    var reportsBlocks = false
    var hasFailed = false
  }

  enum Request: Equatable, Sendable { case reset, activate }

  enum FlashPurpose: Sendable {
    case block, buffer
    case activation
  }

  let settings: SUOTASettings
  let parts: BoardParts
  let loader: Bootloader
  let slot: Int
  var bootRecord: BootRecord
  var transfer: Transfer?
  var patchLength = 0
  var pins: UInt32 = 0
  var memoryInfo = 0
  var queue = FlashQueue<FlashPurpose>(capacity: 1)
  private var pool: [Incoming] = []
  private var pooled = 0
  /// The rest of the PATCH_DATA that a stream is processing, and its length.
  var open: (rest: ArraySlice<UInt8>, count: Int)?
  /// The pending notifications, in order.
  var notices: [UInt8] = []
  /// The value of SERV_STATUS.
  private(set) var status: UInt8 = 0
  var request: Request?
  /// Whether a transfer was started on this connection.
  var hasStarted = false

  init(_ settings: SUOTASettings, bootRecord: BootRecord, parts: BoardParts) {
    self.settings = settings
    self.bootRecord = bootRecord
    self.parts = parts
    loader = Bootloader(flash: parts.flash, layout: parts.settings.layout)
    slot = parts.settings.layout.slot(bootRecord.inactive)
  }

  /// Whether the receiver of the DA1468x and DA1469x runs.
  var isStream: Bool { settings.chip != .da1453x }

  /// Whether all writes are processed, or a restart is requested.
  var isIdle: Bool { request != nil || queue.isIdle && pool.isEmpty && open == nil }

  // MARK: Writes of the host

  /// Accepts a write; a write for which the pool has no room is dropped.
  mutating func accept(_ write: Incoming) {
    guard pooled + write.size <= settings.poolSize else { return }
    pool.append(write)
    pooled += write.size
    process()
  }

  /// Whether the receiver would refuse PATCH_DATA, which only a Write Request shows.
  var refusesData: Bool { isStream && (transfer?.hasFailed ?? true) }

  private mutating func process() {
    while queue.isIdle, request == nil {
      if open != nil {
        continueStream()
      } else if pool.isEmpty {
        return
      } else {
        let write = pool.removeFirst()
        pooled -= write.size
        perform(write)
      }
    }
  }

  private mutating func perform(_ write: Incoming) {
    switch write {
    case .memoryDevice(let value): isStream ? streamCommand(value) : blockCommand(value)
    case .pins(let value):
      if !isStream, transfer == nil { report(.memoryType) }
      pins = value
    case .patchLength(let length): isStream ? streamLength(length) : blockLength(length)
    case .data(let bytes):
      if isStream { beginData(bytes) } else { blockData(bytes) }
    }
  }

  mutating func report(_ status: Status) {
    self.status = status.rawValue
    notices.append(status.rawValue)
  }

  // MARK: Flash

  /// Queues the complete words of the image that are not written yet. The word with the signature
  /// is written last, so that an incomplete image never starts.
  ///
  /// - Returns: `false` if there is nothing to write.
  mutating func store(isLast: Bool, for purpose: FlashPurpose) -> Bool {
    guard var transfer else { return false }
    var end = transfer.image.count / 4 * 4
    if isLast, end < transfer.image.count { end += 4 }
    let start = max(4, transfer.written)
    guard end > start else { return false }
    let bytes = transfer.image[start..<min(end, transfer.image.count)]
    let padding = [UInt8](repeating: 0xFF, count: end - start - bytes.count)
    var operations: [FlashOperation] = []
    let page = parts.settings.layout.pageSize
    let needed = settings.erasing == .image && !isStream ? (transfer.header?.imageSize ?? end) : end
    while transfer.erased < needed {
      operations.append(.erase(page: slot + transfer.erased))
      transfer.erased += page
    }
    operations.append(.write(bytes + padding, at: slot + start))
    transfer.written = end
    self.transfer = transfer
    return queue.offer(operations, for: purpose)
  }

  /// Marks the received image as valid, so that the bootloader starts it.
  mutating func activate(_ transfer: Transfer) {
    let described = SlotImage(suota: transfer.image, transfer.header)
    bootRecord.markPending(described)
    bootRecord.sequence += 1
    let word = FlashOperation.write(Array(transfer.image.prefix(4)), at: slot)
    _ = queue.offer([word] + loader.operations(storing: bootRecord), for: .activation)
  }

  mutating func flashDone(_ isDone: Bool) {
    let purpose = queue.finishedOne()
    if !isDone {
      // The rest of the operations is lost with the block.
      while !queue.isIdle { _ = queue.finishedOne() }
      failedFlash()
    } else {
      switch purpose {
      case .block: blockStored()
      case .activation: report(.blockDone)
      case .buffer, nil: break
      }
    }
    process()
  }

  private mutating func failedFlash() {
    transfer?.hasFailed = true
    open = nil
    report(.flashWrite)
  }

  // MARK: The end of the link

  /// Handles the end of the link. A stream receiver restarts if a transfer was started, also after
  /// a complete image; a block receiver only discards the transfer.
  mutating func disconnected() {
    pool = []
    pooled = 0
    open = nil
    notices = []
    if isStream, hasStarted { request = request ?? restart }
    transfer = nil
    hasStarted = false
  }

  /// The request to restart: with the received image if this image is marked as valid, otherwise
  /// with the running image.
  var restart: Request { bootRecord.isPending ? .activate : .reset }
}
