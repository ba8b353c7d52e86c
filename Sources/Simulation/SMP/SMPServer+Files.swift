import Crypto
import OtaflashFirmware
import OtaflashWire

/// The file management group (Zephyr, `fs_mgmt.c`). One file stays open between requests.
extension SMPServer {
  /// The error codes of the group (Zephyr, `fs_mgmt_err_code_t`).
  enum FileError: Int, Sendable {
    case unknown = 1
    case invalidName = 2
    case notFound = 3
    case isDirectory = 4
    case readFailed = 7
    case writeFailed = 10
    case offsetNotValid = 11
    case noSuchChecksum = 13
    case noSuchMountPoint = 14
    case readOnly = 15
    case empty = 16

    /// The corresponding code of the first version.
    var version1: GeneralError {
      switch self {
      case .invalidName, .noSuchChecksum: .invalid
      case .notFound, .noSuchMountPoint: .noEntry
      case .unknown, .isDirectory, .readFailed, .writeFailed, .offsetNotValid, .readOnly, .empty:
        .unknown
      }
    }
  }

  /// CONFIG_MCUMGR_GRP_FS_PATH_LEN.
  private static let pathMaximum = 64
  /// The number of bytes in the response to a download request that are not data.
  private static let downloadOverhead = 40
  private static let chunkMinimum = 65
  static let mountPoint = "/lfs1"
  /// The mount point of a read-only file system with one file.
  private static let readOnlyMountPoint = "/rom"
  private static let builtIn = (path: "/rom/version.txt", content: Array("Zephyr\n".utf8))

  /// Whether a file is open, so that it is closed after a time without requests.
  var hasOpenFile: Bool { openFile != nil }

  mutating func files(_ call: SMPCall.Files) throws(SMPServerRefusal) -> Work {
    guard store.hasFiles, !isRecovery else { throw .general(.notSupported) }
    fileUses &+= 1
    if is2021 { return try files2021(call) }
    switch call {
    case .upload(let part): return try take(part)
    case .download(let request): return try read(request)
    case .status(let request):
      guard settings.reportsFileStatus else { throw .general(.notSupported) }
      try check(request.name)
      let length = try length(of: request.name)
      return Work(answer: .body(SMPFiles.Status.Response(length: length).body))
    case .checksum(let request): return try checksum(request)
    case .checksumTypes:
      guard !settings.fileChecksums.isEmpty else { throw .general(.notSupported) }
      let names = settings.fileChecksums.map(\.rawValue)
      return Work(answer: .body(SMPFiles.ChecksumTypes.Response(names: names).body))
    case .close: return Work(operations: closeFile(), answer: .body(CBORMap()))
    }
  }

  /// Closes the open file: the content of an upload is stored. Returns the flash operations; empty
  /// if the file was not written, or if the flash is full.
  mutating func closeFile() -> [FlashOperation] {
    guard var file = openFile else { return [] }
    openFile = nil
    guard file.isUpload else { return [] }
    do throws(FlashDataStore.Full) {
      let (content, operations) = try file.finish(in: store)
      return operations + (try store.store(content, at: file.path))
    } catch {
      return []
    }
  }

  // MARK: Paths

  private func check(_ path: String) throws(SMPServerRefusal) {
    guard 1...Self.pathMaximum ~= path.utf8.count else { throw .general(.invalid) }
  }

  private func length(of path: String) throws(SMPServerRefusal) -> Int {
    guard path.hasPrefix("/") else { throw .file(.invalidName) }
    if path == Self.builtIn.path { return Self.builtIn.content.count }
    if [Self.mountPoint, Self.readOnlyMountPoint].contains(path) || isDirectory(path) {
      throw .file(.isDirectory)
    }
    guard let file = store.files[path] else { throw .file(.notFound) }
    return file.size
  }

  private func isDirectory(_ path: String) -> Bool {
    let folder = path.hasSuffix("/") ? path : path + "/"
    return store.files.keys.contains { $0.hasPrefix(folder) }
  }

  private func checkWritable(_ path: String) throws(SMPServerRefusal) {
    guard path.hasPrefix("/") else { throw .file(.invalidName) }
    if path.hasPrefix(Self.readOnlyMountPoint + "/") { throw .file(.readOnly) }
    guard path.hasPrefix(Self.mountPoint + "/") else { throw .file(.noSuchMountPoint) }
    guard !path.hasSuffix("/"), !isDirectory(path) else { throw .file(.unknown) }
  }

  // MARK: Upload

  private mutating func take(_ part: SMPFiles.Upload) throws(SMPServerRefusal) -> Work {
    try check(part.name)
    guard part.offset > 0 || part.length != nil else { throw .general(.invalid) }
    var operations: [FlashOperation] = []
    if openFile.map({ !$0.isUpload || $0.path != part.name }) ?? false { operations += closeFile() }
    var file: SMPOpenFile
    if let open = openFile {
      file = open
    } else {
      do throws(SMPServerRefusal) { file = try open(part.name) } catch {
        return Work(operations: operations, answer: .refusal(error))
      }
    }
    let stored = store.files[part.name]?.size ?? 0
    if part.offset == 0 {
      file.length = part.length ?? 0
    } else if file.offset == 0 {
      file.offset = stored
    }
    guard part.offset == 0 || part.offset == file.offset else {
      openFile = file
      return Work(
        operations: operations + closeFile(),
        answer: .refusal(.file(.offsetNotValid, length: file.offset)))
    }
    if !part.data.isEmpty {
      if part.offset == 0, stored != 0 { file.truncate() }
      do throws(FlashDataStore.Full) {
        operations += try file.append(part.data, in: store)
      } catch {
        openFile = file
        return Work(
          operations: operations + closeFile(), answer: .refusal(.file(.writeFailed)))
      }
      file.offset += part.data.count
      counters.fileBytes += UInt64(part.data.count)
    }
    openFile = file
    if file.length > 0, file.offset >= file.length { operations += closeFile() }
    return Work(
      operations: operations,
      answer: .body(SMPFiles.Upload.Response(offset: file.offset).body))
  }

  mutating func open(_ path: String) throws(SMPServerRefusal) -> SMPOpenFile {
    try checkWritable(path)
    store.create(path)
    do throws(FlashFault) {
      return try SMPOpenFile(writing: path, store.files[path] ?? .init(), in: store)
    } catch {
      parts.note(error)
      throw .file(.unknown)
    }
  }

  // MARK: Download

  mutating func read(_ request: SMPFiles.Download) throws(SMPServerRefusal) -> Work {
    try check(request.name)
    var operations: [FlashOperation] = []
    if openFile.map({ $0.isUpload || $0.path != request.name }) ?? false {
      operations += closeFile()
    }
    let length: Int
    do throws(SMPServerRefusal) { length = try self.length(of: request.name) } catch {
      return Work(operations: operations, answer: .refusal(error))
    }
    let chunk = max(Self.chunkMinimum, settings.netBuffers.size - Self.downloadOverhead)
    let data = try content(of: request.name, from: request.offset, atMost: chunk)
    let isEnd = length > 0 && request.offset + data.count >= length
    openFile = isEnd ? nil : SMPOpenFile(reading: request.name, .init(size: length))
    let answer = SMPFiles.Download.Response(
      offset: request.offset, data: data, length: request.offset == 0 ? length : nil)
    return Work(operations: operations, answer: .body(answer.body))
  }

  private func content(
    of path: String, from offset: Int, atMost count: Int
  ) throws(SMPServerRefusal) -> [UInt8] {
    if path == Self.builtIn.path {
      return Array(Self.builtIn.content.dropFirst(offset).prefix(count))
    }
    do throws(FlashFault) {
      return try store.read(store.files[path] ?? .init(), from: offset, atMost: count)
    } catch {
      parts.note(error)
      throw .file(.readFailed)
    }
  }

  // MARK: Checksums

  private func checksum(_ request: SMPFiles.Checksum) throws(SMPServerRefusal) -> Work {
    guard let first = settings.fileChecksums.first else { throw .general(.notSupported) }
    try check(request.name)
    guard request.length != 0 else { throw .general(.invalid) }
    let type = request.type.map(SMPFiles.ChecksumType.init(rawValue:)) ?? first
    guard let type, settings.fileChecksums.contains(type) else { throw .file(.noSuchChecksum) }
    let length = try length(of: request.name)
    guard length > 0 else { throw .file(.empty) }
    let bytes = try content(of: request.name, from: 0, atMost: request.length ?? length)
    let output: SMPFiles.Checksum.Response.Output =
      switch type {
      case .crc32: .number(UInt64(CRC32.checksum(bytes)))
      case .sha256: .bytes(Array(SHA256.hash(data: bytes)))
      }
    return Work(
      answer: .body(
        SMPFiles.Checksum.Response(type: type.rawValue, length: bytes.count, output: output).body))
  }

  // MARK: The shell

  /// Returns the output of `fs ls` (Zephyr, `subsys/fs/shell.c`).
  func listing(of path: String) -> (output: String, code: Int32) {
    let folder = path.hasSuffix("/") ? path : path + "/"
    let names = store.files.keys + [Self.builtIn.path, Self.mountPoint + "/"]
    let entries = Set(
      names.filter { $0.hasPrefix(folder) && $0 != folder }.map { name in
        let rest = name.dropFirst(folder.count)
        return rest.firstIndex(of: "/").map { String(rest[...$0]) } ?? String(rest)
      })
    guard store.hasFiles, !entries.isEmpty || folder == Self.mountPoint + "/" else {
      return ("Unable to open \(path) (err -2)\n", -8)
    }
    return (entries.sorted().map { $0 + "\n" }.joined(), 0)
  }
}
