import OtaflashFirmware

/// An upload as the server remembers it: in memory alone, so that a reset forgets it.
struct SMPUpload: Equatable, Sendable {
  let size: Int
  /// SHA-256 of the whole file, or less of it, or nothing.
  let sha: [UInt8]
  /// The slot that the image goes to, and where that begins.
  let place: SlotPlace
  let address: Int
  /// A part did not get into flash: nothing more is written.
  var isBroken = false
  /// Bytes taken so far.
  private(set) var offset = 0
  /// What does not fill a unit of flash yet.
  private var rest: [UInt8] = []
  /// Bytes from the start of the slot that are erased.
  private var erased: Int

  init(size: Int, sha: [UInt8], place: SlotPlace, address: Int, erased: Int) {
    self.size = size
    self.sha = sha
    self.place = place
    self.address = address
    self.erased = erased
  }

  var isWhole: Bool { offset == size }

  /// Takes the next bytes. Returns what flash has to do for them, erases included.
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

  /// The pages that progressive erasing still owes before `end` is written.
  private mutating func erases(upTo end: Int, _ geometry: FlashGeometry) -> [FlashOperation] {
    var operations: [FlashOperation] = []
    while address + erased < end {
      operations.append(.erase(page: address + erased))
      erased += geometry.pageSize
    }
    return operations
  }
}

/// What the faults of a plan do to what a server tells. Kept for the life of the board, so that
/// what happens once happens once.
struct SMPMisbehavior: Sendable {
  private static let otherVersion = "0.0.1"

  private let plan: FaultPlan
  private var hasJumpedBack = false
  private var repeated: Int?
  private var hasActivated = false

  init(plan: FaultPlan) { self.plan = plan }

  /// A new image has been started.
  mutating func noteActivation() { hasActivated = true }

  /// Version and hash of an image that runs.
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
