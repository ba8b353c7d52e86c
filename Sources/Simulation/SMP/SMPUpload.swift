import OtaflashFirmware

/// The server's state of an upload. The state is only in memory: a reset discards it.
struct SMPUpload: Equatable, Sendable {
  let size: Int
  /// The announced SHA-256 of the complete file, or a prefix of this hash; empty = not announced.
  let sha: [UInt8]
  /// The slot that receives the image.
  let place: SlotPlace
  let address: Int
  /// Whether a flash write failed; no more data is then written.
  var isBroken = false
  /// The number of bytes accepted so far.
  private(set) var offset = 0
  /// Bytes that do not yet fill a unit of flash.
  private var rest: [UInt8] = []
  /// The number of erased bytes at the start of the slot.
  private var erased: Int

  init(size: Int, sha: [UInt8], place: SlotPlace, address: Int, erased: Int) {
    self.size = size
    self.sha = sha
    self.place = place
    self.address = address
    self.erased = erased
  }

  var isWhole: Bool { offset == size }

  /// Accepts the next bytes. Returns the flash operations for them, including erases.
  mutating func take(_ data: [UInt8], _ geometry: FlashGeometry) -> [FlashOperation] {
    let start = address + offset - rest.count
    offset += data.count
    let bytes = rest + data
    let unit = geometry.writeAlignment
    let whole = isWhole ? bytes.count : bytes.count / unit * unit
    rest = Array(bytes[whole...])
    guard whole > 0 else { return [] }
    let padding = (unit - whole % unit) % unit
    let words = bytes[..<whole] + [UInt8](repeating: 0xFF, count: padding)
    return erases(upTo: start + words.count, geometry) + [.write(Array(words), at: start)]
  }

  /// Returns the erases that progressive erasing needs before a write up to `end`.
  private mutating func erases(upTo end: Int, _ geometry: FlashGeometry) -> [FlashOperation] {
    var operations: [FlashOperation] = []
    while address + erased < end {
      operations.append(.erase(page: address + erased))
      erased += geometry.pageSize
    }
    return operations
  }
}

/// Applies the faults of a plan to the server's answers. An instance lives as long as the board, so
/// that a fault that occurs once is not repeated.
struct SMPMisbehavior: Sendable {
  private static let otherVersion = "0.0.1"

  private let plan: FaultPlan
  private var hasJumpedBack = false
  private var repeated: Int?
  private var hasActivated = false

  init(plan: FaultPlan) { self.plan = plan }

  /// Called when a new image has started.
  mutating func noteActivation() { hasActivated = true }

  /// Returns the reported version and hash of a running image.
  func altered(version: String, hash: [UInt8]) -> (version: String, hash: [UInt8]) {
    guard hasActivated, plan.contains(.otherImage) else { return (version, hash) }
    return (Self.otherVersion, hash.map { ~$0 })
  }

  mutating func altered(offset: Int, of size: Int) -> Int {
    guard offset > 0 else { return offset }
    if plan.contains(.repeatOffset) {
      let first = repeated ?? offset
      repeated = first
      return first
    }
    if plan.contains(.jumpBack), !hasJumpedBack, offset >= size / 2 {
      hasJumpedBack = true
      return 0
    }
    return plan.contains(.beyondEnd) ? size + 1000 : offset
  }
}
