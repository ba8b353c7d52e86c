import OtaflashFirmware

/// The file system of InfiniTime, with the rules and error codes of LittleFS (`lfs.h`). A change
/// either completes or does not happen, even if the power is lost.
struct WatchFileSystem: Sendable {
  enum Fault: Int8, Error {
    case noEntry = -2
    case exists = -17
    case notDirectory = -20
    case isDirectory = -21
    case noSpace = -28
    case nameTooLong = -36
    case notEmpty = -39
    case invalid = -22
  }

  enum Entry: Equatable, Sendable {
    case file(size: Int)
    case directory
  }

  /// The maximum length of a name in bytes (`FS.cpp`, `name_max`).
  static let nameMaximum = 50

  /// The directories have paths that end with `/`.
  private var store: FlashDataStore

  init(_ store: FlashDataStore) { self.store = store }

  /// The number of bytes in unused blocks.
  var freeSpace: Int { store.freePages * store.pageSize }

  // MARK: Paths

  /// Returns the normalized path: absolute, without a final `/`; empty for the root.
  private static func normalized(_ path: String) throws(Fault) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." {
        guard parts.popLast() != nil else { throw .invalid }
      } else {
        parts.append(part)
      }
    }
    return parts.map { "/" + $0 }.joined()
  }

  private func find(_ path: String) -> Entry? {
    if path.isEmpty || store.files[path + "/"] != nil { return .directory }
    return store.files[path].map { .file(size: $0.size) }
  }

  /// Checks that the parent of a path is a directory, and that the name is short enough.
  private func checkParent(of path: String) throws(Fault) {
    guard let slash = path.lastIndex(of: "/") else { throw .isDirectory }
    switch find(String(path[..<slash])) {
    case .directory: break
    case .file: throw .notDirectory
    case nil: throw .noEntry
    }
    guard path[slash...].utf8.count - 1 <= Self.nameMaximum else { throw .nameTooLong }
  }

  // MARK: Reading

  func entry(at path: String) throws(Fault) -> Entry {
    guard let entry = find(try Self.normalized(path)) else { throw .noEntry }
    return entry
  }

  func read(_ path: String, from offset: Int, atMost count: Int) throws -> [UInt8] {
    guard let file = store.files[try Self.normalized(path)] else { throw Fault.noEntry }
    return try store.read(file, from: offset, atMost: count)
  }

  /// Returns the names and the entries of a directory, with `.` and `..`.
  func list(_ path: String) throws(Fault) -> [(name: String, entry: Entry)] {
    let directory = try Self.normalized(path)
    switch find(directory) {
    case .directory: break
    case .file: throw .notDirectory
    case nil: throw .noEntry
    }
    let prefix = directory + "/"
    var entries: [(name: String, entry: Entry)] = [(".", .directory), ("..", .directory)]
    for (key, file) in store.files.sorted(by: { $0.key < $1.key }) where key.hasPrefix(prefix) {
      let rest = key.dropFirst(prefix.count)
      let name = rest.hasSuffix("/") ? rest.dropLast() : rest
      guard !name.isEmpty, !name.contains("/") else { continue }
      entries.append(
        (String(name), rest.hasSuffix("/") ? .directory : .file(size: file.size)))
    }
    return entries
  }

  // MARK: Changes

  /// Opens a file for reading and writing, and creates it if it does not exist.
  mutating func open(_ path: String) throws(Fault) -> [FlashOperation] {
    let path = try Self.normalized(path)
    switch find(path) {
    case .directory: throw .isDirectory
    case .file: return []
    case nil:
      try checkParent(of: path)
      return try change { $0[path] = FlashDataStore.File() }
    }
  }

  /// Opens a file, writes bytes at an offset, and closes the file. A gap is filled with zeros.
  mutating func write(
    _ bytes: [UInt8], to path: String, at offset: Int
  ) throws -> [FlashOperation] {
    var operations = try open(path)
    let path = try Self.normalized(path)
    guard var file = store.files[path], !bytes.isEmpty else { return operations }
    let gap = max(0, offset - file.size)
    let (start, data) = (offset - gap, [UInt8](repeating: 0, count: gap) + bytes)
    let pageSize = store.pageSize
    let size = max(file.size, offset + bytes.count)
    var pages: [Int] = []
    for index in start / pageSize...(start + data.count - 1) / pageSize {
      let page = index * pageSize..<min((index + 1) * pageSize, size)
      var content = try store.read(file, from: page.lowerBound, atMost: page.count)
      content += [UInt8](repeating: 0, count: page.count - content.count)
      for address in page where (start..<start + data.count).contains(address) {
        content[address - page.lowerBound] = data[address - start]
      }
      do {
        let (number, writes) = try store.writing(content, besides: pages)
        pages.append(number)
        operations += writes
      } catch { throw Fault.noSpace }
    }
    file.pages.replaceSubrange(
      start / pageSize..<min(file.pages.count, start / pageSize + pages.count), with: pages)
    file.size = size
    return try operations + change { $0[path] = file }
  }

  mutating func remove(_ path: String) throws(Fault) -> [FlashOperation] {
    let path = try Self.normalized(path)
    switch find(path) {
    case .file: return try change { $0[path] = nil }
    case .directory:
      guard !path.isEmpty else { throw .invalid }
      guard !store.files.keys.contains(where: { $0.hasPrefix(path + "/") && $0 != path + "/" })
      else { throw .notEmpty }
      return try change { $0[path + "/"] = nil }
    case nil: throw .noEntry
    }
  }

  mutating func makeDirectory(_ path: String) throws(Fault) -> [FlashOperation] {
    let path = try Self.normalized(path)
    guard find(path) == nil else { throw .exists }
    try checkParent(of: path)
    return try change { $0[path + "/"] = FlashDataStore.File() }
  }

  /// Renames an entry. A file replaces a file; a directory replaces only an empty directory.
  mutating func rename(_ path: String, to target: String) throws(Fault) -> [FlashOperation] {
    let (path, target) = (try Self.normalized(path), try Self.normalized(target))
    guard let entry = find(path), !path.isEmpty else { throw .noEntry }
    try checkParent(of: target)
    switch (entry, find(target)) {
    case (.file, .directory): throw .isDirectory
    case (.directory, .file): throw .notDirectory
    case (.file, _):
      return try change { files in
        files[target] = files.removeValue(forKey: path)
      }
    case (.directory, let other):
      guard !(target + "/").hasPrefix(path + "/") || target == path else { throw .invalid }
      if other != nil, target != path { _ = try remove(target) }
      return try change { files in
        for (key, file) in files where key.hasPrefix(path + "/") {
          files[key] = nil
          files[target + key.dropFirst(path.count)] = file
        }
      }
    }
  }

  private mutating func change(
    _ body: (inout [String: FlashDataStore.File]) -> Void
  ) throws(Fault) -> [FlashOperation] {
    var files = store.files
    body(&files)
    do throws(FlashDataStore.Full) { return try store.replaceFiles(by: files) } catch {
      throw .noSpace
    }
  }
}
