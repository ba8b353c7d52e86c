import Synchronization

/// A flash memory that is stricter than hardware: each byte may be written once per erase, writes
/// are aligned, and operations out of bounds are rejected. Operations take effect immediately; the
/// caller waits for their duration.
public final class SimulatedFlash: Sendable {
  /// The counters of the flash operations since the start.
  public struct Counts: Hashable, Sendable {
    /// The number of erased pages.
    public var erases = 0
    /// The number of write operations.
    public var writes = 0
    /// The number of bytes in these write operations.
    public var bytesWritten = 0
    /// The number of operations that a power loss interrupted.
    public var torn = 0
  }

  let geometry: FlashGeometry
  private let medium: any FlashMedium
  private let state: Mutex<State>

  fileprivate struct State {
    /// One flag per byte: whether it was written since the last erase.
    var isWritten: [Bool]
    var counts = Counts()
    var random: SeededRandom
    var weakPages: Set<Int> = []
  }

  /// Bytes of `medium` that are not 0xFF count as written.
  package init(
    geometry: FlashGeometry, medium: any FlashMedium, random: SeededRandom
  ) throws(FlashFault) {
    precondition(medium.size >= geometry.size, "the medium is smaller than the flash")
    self.geometry = geometry
    self.medium = medium
    let isWritten = try medium.read(0..<geometry.size).map { $0 != 0xFF }
    state = Mutex(State(isWritten: isWritten, random: random))
  }

  package var counts: Counts { state.withLock { $0.counts } }

  /// Adds a bit error to the first byte of each later write to the page at `address`.
  package func weaken(pageAt address: Int) { state.withLock { _ = $0.weakPages.insert(address) } }

  package func read(_ range: Range<Int>) throws(FlashFault) -> [UInt8] {
    try checkBounds(range)
    return try medium.read(range)
  }

  package func perform(_ operation: FlashOperation) throws(FlashFault) {
    try state.withLock { (state) throws(FlashFault) in
      try check(operation, state)
      switch operation {
      case .erase(let page):
        try medium.write([UInt8](repeating: 0xFF, count: geometry.pageSize), at: page)
        state.mark(page..<page + geometry.pageSize, isWritten: false)
        state.counts.erases += 1
      case .write(let bytes, let address):
        try medium.write(state.corrupted(bytes, at: address, geometry.pageSize), at: address)
        state.mark(address..<address + bytes.count, isWritten: true)
        state.counts.writes += 1
        state.counts.bytesWritten += bytes.count
      }
    }
  }

  /// Simulates a power loss during an operation: a page stays partly erased, or a write stays
  /// incomplete, with seeded random bits in between.
  package func tear(_ operation: FlashOperation) throws(FlashFault) {
    try state.withLock { (state) throws(FlashFault) in
      try check(operation, state)
      state.counts.torn += 1
      switch operation {
      case .erase(let page):
        let range = page..<page + geometry.pageSize
        let torn = state.halfErased(try medium.read(range))
        try medium.write(torn, at: page)
        state.mark(range, isWritten: true)
      case .write(let bytes, let address):
        let torn = state.halfWritten(bytes)
        try medium.write(torn, at: address)
        for (index, byte) in torn.enumerated() where byte != 0xFF {
          state.isWritten[address + index] = true
        }
      }
    }
  }
}

// MARK: - Rules

extension SimulatedFlash {
  private func checkBounds(_ range: Range<Int>) throws(FlashFault) {
    guard range.lowerBound >= 0, range.upperBound <= geometry.size else {
      throw .outOfBounds(
        address: range.lowerBound, bytes: range.count, size: geometry.size)
    }
  }

  private func check(_ operation: FlashOperation, _ state: borrowing State) throws(FlashFault) {
    switch operation {
    case .erase(let page):
      try checkBounds(page..<page + geometry.pageSize)
      guard page.isMultiple(of: geometry.pageSize) else {
        throw .notAPage(address: page, pageSize: geometry.pageSize)
      }
    case .write(let bytes, let address):
      try checkBounds(address..<address + bytes.count)
      guard address.isMultiple(of: geometry.writeAlignment), !bytes.isEmpty,
        bytes.count.isMultiple(of: geometry.writeAlignment)
      else {
        throw .misaligned(
          address: address, bytes: bytes.count, alignment: geometry.writeAlignment)
      }
      for index in address..<address + bytes.count where state.isWritten[index] {
        throw .notErased(address: index)
      }
    }
  }
}

extension SimulatedFlash.State {
  fileprivate mutating func mark(_ range: Range<Int>, isWritten value: Bool) {
    for index in range { isWritten[index] = value }
  }

  fileprivate func corrupted(_ bytes: [UInt8], at address: Int, _ pageSize: Int) -> [UInt8] {
    guard weakPages.contains(address / pageSize * pageSize) else { return bytes }
    var bytes = bytes
    bytes[0] ^= 0x10
    return bytes
  }

  /// Returns a partly erased page: erasing sets bits, but only some of the bits are set.
  fileprivate mutating func halfErased(_ old: [UInt8]) -> [UInt8] {
    zip(old, random.bytes(count: old.count)).map { $0 | $1 }
  }

  /// Returns partly written bytes: writing clears bits. The first part is written, the bits of a
  /// stretch after it are random, and the rest is unchanged.
  fileprivate mutating func halfWritten(_ bytes: [UInt8]) -> [UInt8] {
    let done = Int.random(in: 0...bytes.count, using: &random)
    let undecided = Int.random(in: 0...min(16, bytes.count - done), using: &random)
    let noise = random.bytes(count: undecided)
    return bytes[..<done] + zip(bytes[done...], noise).map { $0 | $1 }
      + [UInt8](repeating: 0xFF, count: bytes.count - done - undecided)
  }
}
