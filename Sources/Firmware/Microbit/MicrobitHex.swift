/// The data of a HEX file for the micro:bit. A Universal Hex (spec-universal-hex, version 0.4.0)
/// has a section of records for each board. A record of type 0A starts a section, and type 0B ends
/// it. Type 0D is data of a board other than V1; types 0C and 0E are not for the device. Editors
/// store the source text of a program at addresses outside of the flash; this data is ignored.
struct MicrobitHex {
  private enum Section: Equatable {
    case none
    case board(MicrobitBoard)
    /// The section of a board that this package does not know.
    case unknown
  }

  /// A limit above the flash addresses of all boards; data above it is ignored. Also the limit of
  /// the span.
  private static let flashSize = 0x10_0000

  /// Whether the file has sections.
  private(set) var isUniversal = false
  private var section = Section.none
  private var base = 0
  private var endLine: Int?
  /// The data of V1, V2, and the data outside of sections.
  private var memories: [MicrobitBoard: AddressedMemory] = [:]
  private var plain = AddressedMemory()
  private var highest = 0

  mutating func add(_ text: [UInt8]) throws(TextFault<IntelHexFault>) {
    var lines = TextLines(text)
    while let line = lines.next() {
      if line.isEmpty { continue }
      do throws(IntelHexFault) { try add(line, lines.number) } catch {
        throw .line(lines.number, error)
      }
    }
    guard endLine != nil else { throw .line(max(lines.number, 1), .endMissing) }
  }

  private mutating func add(
    _ line: some Collection<UInt8>, _ number: Int
  ) throws(IntelHexFault) {
    let (type, loadOffset, payload) = try IntelHexRecord.checked(line)
    if let endLine { throw .recordAfterEnd(end: endLine) }
    switch type {
    case 0x00: place(payload, at: base + Int(loadOffset), number)
    case 0x01: endLine = number
    case 0x02: base = try Self.word(payload, type) << 4
    case 0x03, 0x05, 0x0C, 0x0E: break
    case 0x04: base = try Self.word(payload, type) << 16
    case 0x0A:
      guard payload.count >= 2 else {
        throw .wrongLengthForType(type, expected: 2, found: payload.count)
      }
      let block = UInt16(payload[0]) << 8 | UInt16(payload[1])
      let board = MicrobitBoard.allCases.first { $0.blockType == block }
      section = board.map(Section.board) ?? .unknown
      isUniversal = true
    case 0x0B: section = .none
    case 0x0D:
      guard section != .none else { throw .universalHex(type: type) }
      place(payload, at: base + Int(loadOffset), number)
    default: throw .unknownType(type)
    }
  }

  private static func word(_ payload: [UInt8], _ type: UInt8) throws(IntelHexFault) -> Int {
    guard payload.count == 2 else {
      throw .wrongLengthForType(type, expected: 2, found: payload.count)
    }
    return Int(payload[0]) << 8 | Int(payload[1])
  }

  private mutating func place(_ bytes: [UInt8], at address: Int, _ line: Int) {
    guard address + bytes.count <= Self.flashSize else { return }
    switch section {
    case .none:
      plain.append(bytes[...], at: UInt32(address), origin: line)
      highest = max(highest, address + bytes.count)
    case .board(let board):
      memories[board, default: AddressedMemory()].append(
        bytes[...], at: UInt32(address), origin: line)
    case .unknown: break
    }
  }

  // MARK: The programs

  /// The boards for which the file may have a program, V1 first.
  var boards: [MicrobitBoard] {
    guard !isUniversal else { return MicrobitBoard.allCases.filter { memories[$0] != nil } }
    return highest > MicrobitBoard.flashSizeOfV1 ? [.v2] : MicrobitBoard.allCases
  }

  /// Returns the data between SoftDevice and bootloader; `nil` without such data.
  func application(
    of board: MicrobitBoard
  ) throws(TextFault<IntelHexFault>) -> (bytes: [UInt8], layout: AddressLayout)? {
    let memory = isUniversal ? memories[board] ?? AddressedMemory() : plain
    guard !memory.isEmpty else { return nil }
    let area = board.applicationArea
    let window = AddressedMemory.Window(
      spanLimit: Self.flashSize,
      region: AddressRegion(UInt64(area.lowerBound)..<UInt64(area.upperBound)))
    do throws(AddressedMemory.Fault) { return try memory.image(start: nil, in: window) } catch {
      switch error {
      case .overlap(let address, let first, let second):
        throw .line(second, .overlap(address: address, other: first))
      case .addresses(.nothingIn): return nil
      case .addresses(let fault): throw .addresses(fault)
      }
    }
  }
}
