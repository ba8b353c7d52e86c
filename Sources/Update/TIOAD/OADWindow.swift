/// The arithmetic of a transfer: which block may be sent, and how many blocks may be in flight. The
/// device answers each block with a request for the next one; a request confirms all blocks before.
struct OADWindow: Equatable, Sendable {
  /// The maximum numbers of blocks in flight: at first, and after each transfer that failed because
  /// blocks were lost.
  static let ladder = [16, 4, 2, 1]
  /// The initial number of blocks in flight after the header.
  static let start = 2
  /// The maximum number of additional blocks in flight that replace lost requests.
  static let probesMaximum = 3

  /// The number of image bytes.
  let total: Int
  /// The number of image bytes in a block.
  let blockBytes: Int
  /// The number of blocks with the header, which are sent one at a time.
  let headerBlocks: Int
  let limit: Int
  /// The number of blocks that may be in flight.
  private(set) var size: Int
  /// The number of sent blocks.
  private(set) var sent = 0
  /// The number of blocks that the device has confirmed.
  private(set) var confirmed = 0
  private(set) var isComplete = false
  private var probes = 0

  /// - Parameters:
  ///   - headerSize: the number of bytes after which the device erases its flash.
  ///   - losses: the number of earlier transfers that failed because blocks were lost.
  ///   - maximum: the maximum number of unconfirmed bytes; `nil` = no additional limit.
  init(total: Int, blockBytes: Int, headerSize: Int, losses: Int = 0, maximum: Int? = nil) {
    precondition(total > 0 && blockBytes > 0)
    self.total = total
    self.blockBytes = blockBytes
    headerBlocks = (headerSize + blockBytes - 1) / blockBytes
    let most = Self.ladder[min(losses, Self.ladder.count - 1)]
    limit = max(1, min(most, (maximum ?? .max) / blockBytes))
    size = min(Self.start, limit)
  }

  /// The number of blocks of the image.
  var count: Int { (total + blockBytes - 1) / blockBytes }

  /// The number of image bytes that the device has confirmed.
  var confirmedBytes: Int { isComplete ? total : min(total, confirmed * blockBytes) }

  /// Whether the device still examines the header or erases its flash.
  var isBeforeData: Bool { confirmed < headerBlocks }

  var isAllSent: Bool { sent == count }

  /// The image bytes of the next block; `nil` if a request must arrive first, or if all blocks are
  /// sent.
  var sendable: Range<Int>? {
    let ahead = isBeforeData ? 1 : size + probes
    guard sent < count, sent - confirmed < ahead else { return nil }
    return sent * blockBytes..<min(total, (sent + 1) * blockBytes)
  }

  mutating func didSend() { sent += 1 }

  /// Processes the request for a block, which may be late or repeated. Returns `false` if the
  /// device requests a block after a block that was not sent.
  mutating func requested(_ block: Int) -> Bool {
    guard (0...sent).contains(block) else { return false }
    guard block > confirmed else { return true }
    if !isBeforeData { size = min(limit, size + block - confirmed) }
    confirmed = block
    probes = 0
    return true
  }

  /// Processes the report of a complete image. Returns `false` if blocks are left.
  mutating func completed() -> Bool {
    isComplete = isAllSent
    return isComplete
  }

  /// Permits one more block in flight, because requests may be lost.
  mutating func probe() {
    if !isBeforeData, !isAllSent { probes = min(probes + 1, Self.probesMaximum) }
  }
}
