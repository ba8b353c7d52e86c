import OtaflashFirmware
import OtaflashWire

/// The data of the application in flash: a file system and the saved settings.
///
/// Like LittleFS, the file system writes the data of an open file to unused pages, and stores the
/// new content when the file is closed. After a loss of power, a file that was open has its
/// previous content. Each of two pages contains a directory; the page with the higher sequence
/// number is valid.
struct FlashDataStore: Sendable {
  struct File: Equatable, Sendable {
    var size = 0
    /// The indices of the pages with the content.
    var pages: [Int] = []
  }

  /// The error if no page is free, or if the directory exceeds its page.
  struct Full: Error, Equatable, Sendable {}

  /// The number of pages with the directory.
  private static let directoryPages = 2
  private static let magic: [UInt8] = Array("SMPD".utf8)
  private static let headBytes = 12

  private let flash: SimulatedFlash
  private let start: Int
  /// The number of pages; 0 = the data is only in memory.
  let pageCount: Int
  private(set) var files: [String: File] = [:]
  private(set) var settings: [String: [UInt8]] = [:]
  private var sequence: UInt64 = 0

  /// Reads the directory from flash.
  init(in flash: SimulatedFlash, at start: Int, pages: Int) throws(FlashFault) {
    (self.flash, self.start, pageCount) = (flash, start, pages)
    guard pages > 0 else { return }
    for page in 0..<Self.directoryPages {
      let bytes = try flash.read(address(of: page)..<address(of: page + 1))
      guard let found = Self.directory(in: bytes), found.sequence > sequence else { continue }
      (sequence, files, settings) = (found.sequence, found.files, found.settings)
    }
  }

  var pageSize: Int { flash.geometry.pageSize }

  /// Whether the application has a file system.
  var hasFiles: Bool { pageCount > 0 }

  private func address(of page: Int) -> Int { start + page * pageSize }

  // MARK: Reading

  /// Returns bytes of a file; an empty array after its end.
  func read(_ file: File, from offset: Int, atMost count: Int) throws(FlashFault) -> [UInt8] {
    let end = min(file.size, offset + count)
    guard offset < end else { return [] }
    var bytes: [UInt8] = []
    for index in offset / pageSize...(end - 1) / pageSize {
      let page = address(of: file.pages[index])
      let first = max(offset, index * pageSize) - index * pageSize
      let last = min(end, (index + 1) * pageSize) - index * pageSize
      bytes += try flash.read(page + first..<page + last)
    }
    return bytes
  }

  // MARK: Writing

  /// Returns the operations that write a page of an open file, and the page's index.
  ///
  /// - Parameter open: the pages of the open file.
  func writing(_ content: [UInt8], besides open: [Int]) throws(Full) -> (Int, [FlashOperation]) {
    let used = Set(files.values.flatMap(\.pages) + open)
    guard
      let page = (Self.directoryPages..<max(Self.directoryPages, pageCount))
        .first(where: { !used.contains($0) })
    else { throw Full() }
    return (page, operations(content, in: page))
  }

  private func operations(_ content: [UInt8], in page: Int) -> [FlashOperation] {
    let unit = flash.geometry.writeAlignment
    let padding = [UInt8](repeating: 0xFF, count: (unit - content.count % unit) % unit)
    let address = address(of: page)
    return [.erase(page: address), .write(content + padding, at: address)]
  }

  /// Adds an empty file if no file has this path; it is stored with the next change of the
  /// directory.
  mutating func create(_ path: String) { files[path] = files[path] ?? File() }

  /// Replaces a file, and returns the operations that store the directory.
  mutating func store(_ file: File, at path: String) throws(Full) -> [FlashOperation] {
    let former = files[path]
    files[path] = file
    do throws(Full) {
      return try storeDirectory()
    } catch {
      files[path] = former
      throw error
    }
  }

  /// Replaces the list of files, and returns the operations that store the directory.
  mutating func replaceFiles(by files: [String: File]) throws(Full) -> [FlashOperation] {
    let former = self.files
    self.files = files
    do throws(Full) {
      return try storeDirectory()
    } catch {
      self.files = former
      throw error
    }
  }

  /// The number of pages that contain neither files nor the directory.
  var freePages: Int {
    max(0, pageCount - Self.directoryPages - files.values.reduce(0) { $0 + $1.pages.count })
  }

  /// Replaces the saved settings, and returns the operations that store the directory.
  mutating func store(_ settings: [String: [UInt8]]) throws(Full) -> [FlashOperation] {
    self.settings = settings
    return try storeDirectory()
  }

  private mutating func storeDirectory() throws(Full) -> [FlashOperation] {
    guard hasFiles else { return [] }
    sequence += 1
    let body = CBORItem.map(directory).encoded
    guard body.count <= pageSize - Self.headBytes else { throw Full() }
    let head = Self.magic + Self.bytes(UInt32(body.count)) + Self.bytes(CRC32.checksum(body))
    return operations(head + body, in: Int(sequence % UInt64(Self.directoryPages)))
  }

  // MARK: The directory

  private var directory: CBORMap {
    let files = files.sorted { $0.key < $1.key }.map { path, file in
      CBORMap.Pair(
        key: .text(path),
        value: .array(([file.size] + file.pages).map(CBORItem.integer)))
    }
    let settings = settings.sorted { $0.key < $1.key }.map {
      CBORMap.Pair(key: .text($0.key), value: .bytes($0.value))
    }
    return CBORMap([
      "sequence": .unsigned(sequence), "files": .map(CBORMap(pairs: files)),
      "settings": .map(CBORMap(pairs: settings)),
    ])
  }

  private static func directory(
    in page: [UInt8]
  ) -> (sequence: UInt64, files: [String: File], settings: [String: [UInt8]])? {
    guard page.starts(with: magic) else { return nil }
    let size = Int(number(page[4..<8]))
    guard size <= page.count - headBytes else { return nil }
    let body = page[headBytes..<headBytes + size]
    guard CRC32.checksum(body) == number(page[8..<12]) else { return nil }
    let item: CBORItem
    do throws(CBORFault) { item = try CBORItem(decoding: body) } catch {
      // A directory of another format counts as missing.
      return nil
    }
    guard case .map(let map) = item, case .unsigned(let sequence) = map["sequence"],
      case .map(let entries) = map["files"], case .map(let values) = map["settings"]
    else { return nil }
    var files: [String: File] = [:]
    for pair in entries.pairs {
      guard case .text(let path) = pair.key, case .array(let numbers) = pair.value else {
        return nil
      }
      let found = numbers.compactMap { Int($0) }
      guard let size = found.first else { return nil }
      files[path] = File(size: size, pages: Array(found.dropFirst()))
    }
    var settings: [String: [UInt8]] = [:]
    for pair in values.pairs {
      guard case .text(let name) = pair.key, case .bytes(let value) = pair.value else { return nil }
      settings[name] = value
    }
    return (sequence, files, settings)
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
