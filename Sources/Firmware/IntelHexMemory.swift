/// The memory that the records of a HEX file describe, while they come in.
struct IntelHexMemory {
  /// What the load offset of a data record counts from (sections 3 and 4 of the specification).
  private enum Base {
    /// Addresses run on to 2^32 and wrap to 0. Also the rule before any base record.
    case linear(UInt32)
    /// Offsets wrap within the 64 KiB of the segment.
    case segment(UInt32)
  }

  private enum Phase {
    case reading
    case ended(line: Int)
  }

  /// A stretch of one record's data in `data`, and where it belongs.
  private struct Piece {
    let address: UInt32
    let position: Int
    let count: Int
    let line: Int
  }

  private let spanLimit: Int
  private var phase = Phase.reading
  private var base = Base.linear(0)
  private var start: IntelHexLayout.Start?
  private var data: [UInt8] = []
  private var pieces: [Piece] = []
  private var lowest = UInt32.max
  private var highest = UInt32.min

  init(spanLimit: Int) { self.spanLimit = spanLimit }

  mutating func add(_ record: IntelHexRecord, line: Int) throws(IntelHexFault) {
    if case .ended(let end) = phase { throw .recordAfterEnd(end: end) }
    switch record {
    case .data(let loadOffset, let octets): try place(octets, at: loadOffset, line: line)
    case .endOfFile: phase = .ended(line: line)
    case .extendedSegmentAddress(let paragraph): base = .segment(UInt32(paragraph) << 4)
    case .extendedLinearAddress(let upper): base = .linear(UInt32(upper) << 16)
    case .startSegmentAddress(let cs, let ip): try begin(at: .segment(cs: cs, ip: ip))
    case .startLinearAddress(let address): try begin(at: .linear(address))
    }
  }

  /// The bytes from the lowest to the highest address, once every line was added.
  func image(lastLine: Int) throws(FirmwareFault) -> ([UInt8], IntelHexLayout) {
    guard case .ended(let end) = phase else { throw .intelHex(line: lastLine, .endMissing) }
    guard !pieces.isEmpty else { throw .intelHex(line: end, .noData) }
    let ordered = pieces.sorted { ($0.address, $0.line) < ($1.address, $1.line) }
    for (piece, next) in zip(ordered, ordered.dropFirst())
    where Int(piece.address) + piece.count > Int(next.address) {
      let fault = IntelHexFault.overlap(
        address: next.address, other: min(piece.line, next.line))
      throw .intelHex(line: max(piece.line, next.line), fault)
    }
    var bytes = [UInt8](repeating: IntelHexFile.fill, count: Int(highest) - Int(lowest) + 1)
    for piece in ordered {
      let place = Int(piece.address) - Int(lowest)
      bytes.replaceSubrange(
        place..<(place + piece.count), with: data[piece.position..<(piece.position + piece.count)])
    }
    let layout = IntelHexLayout(lowestAddress: lowest, start: start, dataCount: data.count)
    return (bytes, layout)
  }

  private mutating func begin(at address: IntelHexLayout.Start) throws(IntelHexFault) {
    guard start == nil else { throw .secondStartAddress }
    start = address
  }

  private mutating func place(
    _ octets: [UInt8], at loadOffset: UInt16, line: Int
  ) throws(IntelHexFault) {
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
    try append(octets.prefix(room), at: first, line: line)
    try append(octets.dropFirst(room), at: wrapped, line: line)
  }

  private mutating func append(
    _ octets: ArraySlice<UInt8>, at address: UInt32, line: Int
  ) throws(IntelHexFault) {
    guard !octets.isEmpty else { return }
    lowest = min(lowest, address)
    highest = max(highest, address + UInt32(octets.count - 1))
    guard Int(highest) - Int(lowest) < spanLimit else {
      throw .spanTooLarge(lowest: lowest, highest: highest, limit: spanLimit)
    }
    pieces.append(
      Piece(address: address, position: data.count, count: octets.count, line: line))
    data += octets
  }
}
