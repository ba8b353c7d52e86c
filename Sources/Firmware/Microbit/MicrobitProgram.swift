/// The program of one board in a HEX file for the micro:bit.
public struct MicrobitProgram: Equatable, Sendable {
  /// The board for which the program is built.
  public let board: MicrobitBoard
  /// The flash address of the first byte of `application`.
  public let start: Int
  /// Runtime and script, without the SoftDevice and the bootloader; gaps are filled with 0xFF.
  public let application: [UInt8]
  /// The part that changes with every build of a user; `nil` if the file has no such part, so that
  /// only the complete application can be sent.
  public let script: MicrobitScript?

  /// Finds the script in an application.
  ///
  /// - Parameters:
  ///   - board: the board for which the application was built.
  ///   - start: the flash address of the first byte.
  ///   - application: the bytes of runtime and script.
  public init(board: MicrobitBoard, start: Int, application: [UInt8]) {
    (self.board, self.start, self.application) = (board, start, application)
    script =
      MicrobitScript(makeCodeIn: application, at: start, of: board)
      ?? MicrobitScript(microPythonIn: application, at: start, of: board)
  }

  /// Whether the application starts with the stack pointer and the reset vector of a program of
  /// this board.
  var startsWithVectors: Bool {
    guard start == board.applicationArea.lowerBound,
      let stack: UInt32 = application.littleEndian(at: 0),
      let reset: UInt32 = application.littleEndian(at: 4)
    else { return false }
    return board.memory.contains(stack) && !reset.isMultiple(of: 2)
      && board.applicationArea.contains(Int(reset))
  }

  /// Returns the bytes of the script; bytes that the file does not state are 0xFF.
  public func bytes(of script: MicrobitScript) -> [UInt8] {
    let lower = script.area.lowerBound - start
    let upper = script.area.upperBound - start
    guard lower >= 0, lower <= upper else { return [] }
    let known = Array(application.dropFirst(lower).prefix(upper - lower))
    return known + [UInt8](repeating: 0xFF, count: upper - lower - known.count)
  }
}

/// The part of a program that partial flashing replaces.
public struct MicrobitScript: Equatable, Sendable {
  /// The development environment that created the file.
  public enum Origin: String, Sendable {
    /// Microsoft MakeCode: the script is compiled code.
    case makeCode = "MakeCode"
    /// MicroPython: the script is the file system.
    case microPython = "MicroPython"
  }

  /// The number of bytes of a hash.
  public static let hashSize = 8

  /// The development environment that created the file.
  public let origin: Origin
  /// The flash addresses of the script.
  public let area: Range<Int>
  /// The hash of the runtime that the script requires.
  public let runtimeHash: [UInt8]
  /// The hash of the script; `nil` if the file has none, as with MicroPython.
  public let scriptHash: [UInt8]?

  /// Creates a description, for example for tests.
  public init(
    origin: Origin, area: Range<Int>, runtimeHash: [UInt8], scriptHash: [UInt8]?
  ) {
    (self.origin, self.area) = (origin, area)
    (self.runtimeHash, self.scriptHash) = (runtimeHash, scriptHash)
  }
}

/// MakeCode: a mark at the start of a page, followed by the hashes of runtime and script
/// (microbit-dal and codal-microbit-v2, `MicroBitMemoryMap.cpp`). The script extends to the end of
/// the program.
extension MicrobitScript {
  package static let mark: [UInt8] = [
    0x70, 0x8E, 0x3B, 0x92, 0xC6, 0x15, 0xA8, 0x41, 0xC4, 0x98, 0x66, 0xC9, 0x75, 0xEE, 0x51, 0x97,
  ]

  fileprivate init?(makeCodeIn bytes: [UInt8], at start: Int, of board: MicrobitBoard) {
    let headerSize = Self.mark.count + 2 * Self.hashSize
    let found = bytes.pageOffsets(at: start, of: board).first {
      $0 + headerSize <= bytes.count && bytes[$0...].starts(with: Self.mark)
    }
    guard let found else { return nil }
    let hashes = bytes[(found + Self.mark.count)..<(found + headerSize)]
    self.init(
      origin: .makeCode, area: (start + found)..<(start + bytes.count),
      runtimeHash: Array(hashes.prefix(Self.hashSize)),
      scriptHash: Array(hashes.suffix(Self.hashSize)))
  }
}

/// MicroPython: a table of regions that ends at the start of a page (micropython-microbit-v2,
/// `addlayouttable.py`; codal-microbit-v2, `MicroBitMemoryMap.cpp`).
extension MicrobitScript {
  private static let rowSize = 16
  private static let firstMark: UInt32 = 0x597F_30FE
  private static let lastMark: UInt32 = 0xC1B1_D79D
  private static let tableVersion: UInt16 = 1
  private static let runtimeRow: UInt8 = 2
  private static let fileSystemRow: UInt8 = 3
  private static let rowsMaximum: UInt16 = 16
  /// The maximum length of a version text in bytes.
  private static let textMaximum = 100

  fileprivate init?(microPythonIn bytes: [UInt8], at start: Int, of board: MicrobitBoard) {
    for end in bytes.pageOffsets(at: start, of: board) + [bytes.count] {
      if let script = Self(tableIn: bytes, endingAt: end, from: start, of: board) {
        self = script
        return
      }
    }
    return nil
  }

  private init?(
    tableIn bytes: [UInt8], endingAt end: Int, from start: Int, of board: MicrobitBoard
  ) {
    let header = end - Self.rowSize
    guard header >= 0, bytes.littleEndian(UInt32.self, at: header) == Self.firstMark,
      bytes.littleEndian(UInt32.self, at: header + 12) == Self.lastMark,
      bytes.littleEndian(UInt16.self, at: header + 4) == Self.tableVersion,
      let length = bytes.littleEndian(UInt16.self, at: header + 6),
      let count = bytes.littleEndian(UInt16.self, at: header + 8), count <= Self.rowsMaximum,
      Int(length) == Int(count) * Self.rowSize, header >= Int(length),
      let pageShift = bytes.littleEndian(UInt16.self, at: header + 10), pageShift < 16,
      1 << Int(pageShift) == board.pageSize
    else { return nil }
    var hash: [UInt8]?
    var area: Range<Int>?
    for row in stride(from: header - Int(length), to: header, by: Self.rowSize) {
      if bytes[row] == Self.runtimeRow {
        hash = Self.hash(ofRow: row, in: bytes, from: start)
      } else if bytes[row] == Self.fileSystemRow {
        area = Self.area(ofRow: row, in: bytes, of: board)
      }
    }
    guard let hash, let area, area.lowerBound >= start else { return nil }
    self.init(origin: .microPython, area: area, runtimeHash: hash, scriptHash: nil)
  }

  private static func area(
    ofRow row: Int, in bytes: [UInt8], of board: MicrobitBoard
  ) -> Range<Int>? {
    guard let page = bytes.littleEndian(UInt16.self, at: row + 2),
      let length = bytes.littleEndian(UInt32.self, at: row + 4), length > 0
    else { return nil }
    let lower = Int(page) * board.pageSize
    let area = lower..<lower + Int(length)
    return board.applicationArea.contains(lower)
      && area.upperBound <= board.applicationArea.upperBound ? area : nil
  }

  /// Returns the hash of a row: 8 bytes of the row, or the CRC32 of a text to which the row points;
  /// `nil` if the row states no valid hash.
  private static func hash(ofRow row: Int, in bytes: [UInt8], from start: Int) -> [UInt8]? {
    switch bytes[row + 1] {
    case 1: return Array(bytes[(row + 8)..<(row + 16)])
    case 2:
      guard let address = bytes.littleEndian(UInt32.self, at: row + 8) else { return nil }
      let offset = Int(address) - start
      guard offset >= 0, offset < bytes.count else { return nil }
      let text = bytes[offset...].prefix(textMaximum).prefix { $0 != 0 }
      let checksum = CRC32.checksum(text)
      return (0..<hashSize).map { $0 < 4 ? UInt8(truncatingIfNeeded: checksum >> (8 * $0)) : 0 }
    default: return nil
    }
  }
}

extension [UInt8] {
  /// Returns the offsets of the starts of pages.
  fileprivate func pageOffsets(at start: Int, of board: MicrobitBoard) -> [Int] {
    let first = (board.pageSize - start % board.pageSize) % board.pageSize
    return Array<Int>(stride(from: first, to: count, by: board.pageSize))
  }
}
