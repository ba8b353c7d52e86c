import OtaflashATT
import OtaflashFirmware
import OtaflashWire

/// The rules of InfiniTime's file service (`FSService.cpp`), which implements Adafruit's BLE file
/// transfer. This type is independent of link and clock.
struct WatchFileServer: Sendable {
  /// The reaction to a request.
  struct Reaction {
    /// The notifications, in order; the watch waits after each entry of a directory.
    var answers: [[UInt8]] = []
    /// The operations on flash, before the answers.
    var operations: [FlashOperation] = []
    /// The ATT error code of the write.
    var refusal: ATTErrorCode?
    /// Whether the request ends in undefined behavior, which resets the watch.
    var crashes = false

    static let crash = Reaction(crashes: true)
  }

  /// The maximum length of a path in bytes.
  static let pathMaximum = 256
  /// The NimBLE stack sends the low byte of the handler's result −1.
  static let refusedPath = ATTErrorCode(0xFF)

  var files: WatchFileSystem
  var random: SeededRandom
  /// The path and the size of the last READ or WRITE, which later requests use.
  private var path = ""
  private var size: UInt32 = 0
  /// Whether a directory was listed. The handle of the directory is not closed, so the next change
  /// of the file system follows a dangling pointer (issue 1579).
  private var leaksDirectory = false

  init(_ files: WatchFileSystem, random: SeededRandom) {
    (self.files, self.random) = (files, random)
  }

  /// Handles a write to the transfer characteristic.
  ///
  /// - Parameter limit: the maximum length of a notification; the stack truncates longer ones.
  mutating func received(_ bytes: [UInt8], limit: Int) -> Reaction {
    do {
      var reaction = try handle(bytes, limit)
      reaction.answers = reaction.answers.map { Array($0.prefix(limit)) }
      return reaction
    } catch let refusal as ATTErrorCode {
      return Reaction(refusal: refusal)
    } catch {
      // The header is incomplete, or the flash failed: the watch reads foreign memory, or asserts.
      return .crash
    }
  }

  private struct Incomplete: Error {}

  private mutating func handle(_ bytes: [UInt8], _ limit: Int) throws -> Reaction {
    var reader = ByteReader(bytes, orThrow: Incomplete())
    let opcode = try reader.uint8()
    _ = try reader.uint8()
    switch opcode {
    case 0x10, 0x12:
      let length = try reader.uint16()
      let (offset, count) = (try reader.uint32(), try reader.uint32())
      if opcode == 0x10 { path = try Self.checkedPath(length, &reader) }
      return try read(from: Int(offset), count: Int(count))
    case 0x20:
      let length = try reader.uint16()
      let offset = try reader.uint32()
      _ = try reader.bytes(8)
      size = try reader.uint32()
      path = try Self.checkedPath(length, &reader)
      return open(at: offset)
    case 0x22:
      _ = try reader.uint16()
      let (offset, count) = (try reader.uint32(), Int(try reader.uint32()))
      guard count <= bytes.count + limit else { return .crash }
      // The watch trusts the stated count, and writes the memory after the request.
      var data = Array(reader.rest.prefix(count))
      data += random.bytes(count: count - data.count)
      return try write(data, at: offset)
    case 0x30:
      let path = try Self.path(try reader.uint16(), &reader)
      return answer(0x31, size: 2) { (files) throws(WatchFileSystem.Fault) in
        try files.remove(path)
      }
    case 0x40:
      let length = try reader.uint16()
      _ = try reader.bytes(12)
      let path = try Self.path(length, &reader)
      return answer(0x41, size: 16) { (files) throws(WatchFileSystem.Fault) in
        try files.makeDirectory(path)
      }
    case 0x50: return try list(Self.path(try reader.uint16(), &reader))
    case 0x60:
      let lengths = (try reader.uint16(), try reader.uint16())
      let from = try Self.path(lengths.0, &reader)
      _ = try reader.uint8()
      let to = try Self.path(lengths.1, &reader)
      return answer(0x61, size: 2) { (files) throws(WatchFileSystem.Fault) in
        try files.rename(from, to: to)
      }
    default: return Reaction()
    }
  }

  /// Returns the path of READ or WRITE, the only requests whose paths the watch checks.
  private static func checkedPath(
    _ length: UInt16, _ reader: inout ByteReader<Incomplete>
  ) throws -> String {
    guard length <= pathMaximum else { throw refusedPath }
    return try path(length, &reader)
  }

  private static func path(
    _ length: UInt16, _ reader: inout ByteReader<Incomplete>
  ) throws -> String {
    String(decoding: try reader.bytes(Int(length)).prefix { $0 != 0 }, as: UTF8.self)
  }

  // MARK: Requests

  private func read(from offset: Int, count: Int) throws -> Reaction {
    var content: [UInt8] = []
    var total = 0
    var status: Int8 = 1
    do throws(WatchFileSystem.Fault) {
      // A directory cannot be opened, and the watch continues with the unopened file.
      guard case .file(let size) = try files.entry(at: path) else { return .crash }
      total = size
      content = try read(from: offset, count: min(count, size))
    } catch {
      guard error == .noEntry else { return .crash }
      status = error.rawValue
    }
    let head: [UInt8] = [0x11, UInt8(bitPattern: status), 0, 0]
    let numbers = [offset, total, content.count].flatMap {
      UInt32(truncatingIfNeeded: $0).littleEndianBytes
    }
    return Reaction(answers: [head + numbers + content])
  }

  private func read(
    from offset: Int, count: Int
  ) throws(WatchFileSystem.Fault) -> [UInt8] {
    do { return try files.read(path, from: offset, atMost: count) } catch { throw .noEntry }
  }

  /// Handles WRITE. If the file cannot be opened, the watch does not set the status of the answer.
  private mutating func open(at offset: UInt32) -> Reaction {
    guard !leaksDirectory else { return .crash }
    do throws(WatchFileSystem.Fault) {
      let operations = try files.open(path)
      return Reaction(answers: [pacing(status: 1, offset, time: 0)], operations: operations)
    } catch {
      return Reaction(answers: [pacing(status: random.bytes(count: 1)[0], offset, time: 0)])
    }
  }

  /// Handles WRITE_DATA. After success, the watch sets neither the status of the answer nor its
  /// time.
  private mutating func write(_ data: [UInt8], at offset: UInt32) throws -> Reaction {
    guard !leaksDirectory else { return .crash }
    let time = random.next()
    do {
      let operations = try files.write(data, to: path, at: Int(offset))
      let status = random.bytes(count: 1)[0]
      return Reaction(answers: [pacing(status: status, offset, time: time)], operations: operations)
    } catch let fault as WatchFileSystem.Fault {
      let status = UInt8(bitPattern: fault.rawValue)
      return Reaction(answers: [pacing(status: status, offset, time: time)])
    }
  }

  private func pacing(status: UInt8, _ offset: UInt32, time: UInt64) -> [UInt8] {
    let free = min(UInt32(files.freeSpace), size &- offset)
    return [0x21, status, 0, 0] + offset.littleEndianBytes
      + UInt32(truncatingIfNeeded: time).littleEndianBytes
      + UInt32(truncatingIfNeeded: time >> 32).littleEndianBytes + free.littleEndianBytes
  }

  private mutating func answer(
    _ opcode: UInt8, size: Int,
    _ change: (inout WatchFileSystem) throws(WatchFileSystem.Fault) -> [FlashOperation]
  ) -> Reaction {
    guard !leaksDirectory else { return .crash }
    var reaction = Reaction()
    var status: Int8 = 1
    do throws(WatchFileSystem.Fault) { reaction.operations = try change(&files) } catch {
      status = error.rawValue
    }
    let rest = [UInt8](repeating: 0, count: size - 2)
    reaction.answers = [[opcode, UInt8(bitPattern: status)] + rest]
    return reaction
  }

  private mutating func list(_ path: String) -> Reaction {
    let entries: [(name: String, entry: WatchFileSystem.Entry)]
    do throws(WatchFileSystem.Fault) { entries = try files.list(path) } catch {
      return Reaction(answers: [Self.entry(UInt8(bitPattern: error.rawValue), 0, of: 0)])
    }
    leaksDirectory = true
    let answers = entries.enumerated().map { index, found in
      Self.entry(1, index, of: entries.count, found.name, found.entry)
    }
    return Reaction(answers: answers + [Self.entry(1, entries.count, of: entries.count)])
  }

  private static func entry(
    _ status: UInt8, _ index: Int, of count: Int, _ name: String = "",
    _ entry: WatchFileSystem.Entry = .file(size: 0)
  ) -> [UInt8] {
    let (flags, size): (UInt32, Int) =
      switch entry {
      case .file(let size): (0, size)
      case .directory: (1, 0)
      }
    let fields: [[UInt8]] = [
      [0x51, status], UInt16(name.utf8.count).littleEndianBytes, UInt32(index).littleEndianBytes,
      UInt32(count).littleEndianBytes, flags.littleEndianBytes, [UInt8](repeating: 0, count: 8),
      UInt32(size).littleEndianBytes, Array(name.utf8),
    ]
    return Array(fields.joined())
  }
}
