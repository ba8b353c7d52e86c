/// The memory of a HEX file, filled record by record.
struct IntelHexMemory {
  /// The base of the load offset of data records (sections 3 and 4 of the specification).
  private enum Base {
    /// Addresses continue to 2^32 and wrap to 0. This also applies before the first base record.
    case linear(UInt32)
    /// Offsets wrap within the 64 KiB of the segment.
    case segment(UInt32)
  }

  private enum Phase {
    case reading
    case ended(line: Int)
  }

  private var phase = Phase.reading
  private var base = Base.linear(0)
  private var start: AddressLayout.Start?
  private var memory = AddressedMemory()

  mutating func add(_ record: IntelHexRecord, line: Int) throws(IntelHexFault) {
    if case .ended(let end) = phase { throw .recordAfterEnd(end: end) }
    switch record {
    case .data(let loadOffset, let bytes): place(bytes, at: loadOffset, line: line)
    case .endOfFile: phase = .ended(line: line)
    case .extendedSegmentAddress(let paragraph): base = .segment(UInt32(paragraph) << 4)
    case .extendedLinearAddress(let upper): base = .linear(UInt32(upper) << 16)
    case .startSegmentAddress(let cs, let ip): try begin(at: .segment(cs: cs, ip: ip))
    case .startLinearAddress(let address): try begin(at: .linear(address))
    }
  }

  /// Returns the bytes from the lowest to the highest address. Requires that all lines were added.
  func image(
    lastLine: Int, in window: AddressedMemory.Window
  ) throws(TextFault<IntelHexFault>) -> ([UInt8], AddressLayout) {
    guard case .ended(let end) = phase else { throw .line(lastLine, .endMissing) }
    guard !memory.isEmpty else { throw .line(end, .noData) }
    do throws(AddressedMemory.Fault) {
      return try memory.image(start: start, in: window)
    } catch {
      switch error {
      case .overlap(let address, let first, let second):
        throw .line(second, .overlap(address: address, other: first))
      case .addresses(let fault): throw .addresses(fault)
      }
    }
  }

  private mutating func begin(at address: AddressLayout.Start) throws(IntelHexFault) {
    guard start == nil else { throw .secondStartAddress }
    start = address
  }

  private mutating func place(_ bytes: [UInt8], at loadOffset: UInt16, line: Int) {
    let first: UInt32
    let room: Int
    let wrapped: UInt32
    switch base {
    case .linear(let address):
      first = address + UInt32(loadOffset)
      room = Int(UInt32.max) - Int(first) + 1
      wrapped = 0
    case .segment(let address):
      first = address + UInt32(loadOffset)
      room = 0x1_0000 - Int(loadOffset)
      wrapped = address
    }
    memory.append(bytes.prefix(room), at: first, origin: line)
    memory.append(bytes.dropFirst(room), at: wrapped, origin: line)
  }
}
