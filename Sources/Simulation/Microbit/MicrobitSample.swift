import Crypto
import OtaflashFirmware

/// Assembles programs for the micro:bit: a runtime and a script.
struct MicrobitSample: Sendable {
  private static let runtimePages = 8
  /// The number of pages between the runtime and the file system, and the number of pages of the
  /// file system.
  private static let gapPages = 2
  private static let fileSystemPages = 6
  private static let blockSize = 64
  private static let padding: UInt8 = 0x5A
  private static let textOffset = 0x100
  private static let textSize = 32
  private static let resetOffset = 0x201

  let board: MicrobitBoard
  let editor: MicrobitSettings.Editor
  let runtime: MicrobitSettings.Runtime

  init(_ settings: MicrobitSettings) {
    (board, editor, runtime) = (settings.board, settings.editor, settings.runtime)
  }

  init(
    board: MicrobitBoard, editor: MicrobitSettings.Editor, runtime: MicrobitSettings.Runtime = .same
  ) {
    (self.board, self.editor, self.runtime) = (board, editor, runtime)
  }

  private var start: Int { board.applicationArea.lowerBound }
  private var runtimeSize: Int { Self.runtimePages * board.pageSize }

  /// The flash address of the script.
  var scriptStart: Int {
    switch editor {
    case .makecode: start + runtimeSize
    case .python: start + runtimeSize + Self.gapPages * board.pageSize
    }
  }

  /// Returns the application: the bytes from the end of the SoftDevice.
  ///
  /// - Parameter body: the content of the script, padded to complete blocks.
  func application(_ body: [UInt8]) -> [UInt8] {
    switch editor {
    case .makecode:
      let header = MicrobitScript.mark + Self.hash(of: runtimeBytes) + Self.hash(of: body)
      return runtimeBytes + Self.padded(header + body)
    case .python:
      let gap = [UInt8](repeating: 0xFF, count: scriptStart - start - runtimeSize)
      return runtimeBytes + gap
        + Self.padded(Array(body.prefix(Self.fileSystemPages * board.pageSize - Self.blockSize)))
    }
  }

  private static func hash(of bytes: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: bytes).prefix(MicrobitScript.hashSize))
  }

  private static func padded(_ bytes: [UInt8]) -> [UInt8] {
    // The last byte is not 0xFF, so that the end of a program can be seen in flash.
    let count = (bytes.count + blockSize) / blockSize * blockSize
    return bytes + [UInt8](repeating: padding, count: count - bytes.count)
  }

  // MARK: The runtime

  private var versionText: [UInt8] {
    let text = Array("sample runtime, \(runtime.rawValue)".utf8)
    return text + [UInt8](repeating: 0, count: Self.textSize - text.count)
  }

  private var runtimeBytes: [UInt8] {
    let first = runtime == .same ? 7 : 8
    var bytes = (0..<runtimeSize).map { UInt8(truncatingIfNeeded: 31 * $0 + ($0 >> 7) + first) }
    let stack: UInt32 = board == .v1 ? 0x2000_4000 : 0x2002_0000
    let vectors = stack.littleEndianBytes + UInt32(start + Self.resetOffset).littleEndianBytes
    bytes.replaceSubrange(0..<vectors.count, with: vectors)
    bytes.replaceSubrange(Self.textOffset..<Self.textOffset + Self.textSize, with: versionText)
    if editor == .python {
      let table = layoutTable
      bytes.replaceSubrange(bytes.count - table.count..<bytes.count, with: table)
    }
    return bytes
  }

  /// The table of regions at the end of MicroPython (`addlayouttable.py`).
  private var layoutTable: [UInt8] {
    let softDevice = row(id: 1, kind: 1, page: 0, length: start, hash: [1, 0, 0, 0, 0, 0, 0, 0])
    let text = UInt32(start + Self.textOffset).littleEndianBytes + [0, 0, 0, 0]
    let runtime = row(
      id: 2, kind: 2, page: start / board.pageSize, length: runtimeSize, hash: text)
    let files = row(
      id: 3, kind: 0, page: scriptStart / board.pageSize,
      length: Self.fileSystemPages * board.pageSize, hash: [UInt8](repeating: 0, count: 8))
    let rows = softDevice + runtime + files
    let fields: [UInt16] = [
      1, UInt16(rows.count), 3, UInt16(board.pageSize.trailingZeroBitCount),
    ]
    let header = UInt32(0x597F_30FE).littleEndianBytes + fields.flatMap(\.littleEndianBytes)
    return rows + header + UInt32(0xC1B1_D79D).littleEndianBytes
  }

  private func row(id: UInt8, kind: UInt8, page: Int, length: Int, hash: [UInt8]) -> [UInt8] {
    [id, kind] + UInt16(page).littleEndianBytes + UInt32(length).littleEndianBytes + hash
  }
}
