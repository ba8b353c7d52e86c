import Glibc

/// The images that devices may run, one file each: those that were sent to one from here. Patches
/// are made against them.
///
/// A file is believed only while its bytes have the size, the CRC32 and the SHA-256 of its name;
/// any other is put aside. Together they stay within a limit, and those go first that were not
/// used for longest. Several processes may keep and find images at once.
public struct BaseImages: Sendable {
  /// Bytes of all images together, unless said otherwise: 64 MiB.
  public static let defaultLimit = 64 << 20
  /// Images kept at most, however small.
  static let capacity = 256
  /// Names looked at in the folder, of which some may be none of ours.
  private static let namesMaximum = 4 * capacity
  private static let asideSuffix = ".damaged"
  private static let draftSuffix = ".new"

  private let folder: String
  private let limit: Int
  private let patience: FileTurn.Patience
  private let writing: FileWriting
  private let now: @Sendable () -> timespec
  private let tellSetAside: @Sendable (String) -> Void

  /// - Parameters:
  ///   - directory: created before (`StateDirectory.create()`).
  ///   - limit: in bytes, of all images together; an image larger than that is not kept.
  ///   - tellSetAside: gets the new path of a file that was damaged, and is out of the way now.
  public init(
    in directory: StateDirectory, limit: Int = defaultLimit,
    tellSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.init(
      in: directory, limit: limit, patience: FileTurn.patience, writing: .system, now: Self.now,
      tellSetAside)
  }

  init(
    in directory: StateDirectory, limit: Int, patience: FileTurn.Patience, writing: FileWriting,
    now: @escaping @Sendable () -> timespec,
    _ tellSetAside: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    folder = directory.imagesPath
    self.limit = limit
    self.patience = patience
    self.writing = writing
    self.now = now
    self.tellSetAside = tellSetAside
  }

  /// The image of this size, in bytes, and this CRC32 that was used last; it counts as used now.
  /// - Returns: its bytes, or `nil` when it is not kept.
  public func find(size: UInt32, crc32: UInt32) throws(StateFault) -> [UInt8]? {
    let turn = try takeTurn()
    defer { extendLifetime(turn) }
    let found = try files().filter { $0.name.size == size && $0.name.crc32 == crc32 }
    for file in found.reversed() where !file.isAside {
      if let bytes = try read(file.name) { return bytes }
    }
    return nil
  }

  /// Keeps an image (not empty), and removes others where there are too many. One that is kept
  /// already counts as used now; one that is larger than all may be together is not kept.
  /// - Throws: `.diskFull` and others; what was kept before is still sound then.
  public func keep(_ bytes: [UInt8]) throws(StateFault) {
    precondition(!bytes.isEmpty, "an image has bytes")
    guard bytes.count <= limit else { return }
    let name = BaseImageName(of: bytes)
    let turn = try takeTurn()
    defer { extendLifetime(turn) }
    if try read(name) != nil { return }
    try makeRoom(for: bytes.count)
    try file(name).replace(with: bytes)
    markUsed(name)
  }

  private func takeTurn() throws(StateFault) -> FileTurn {
    try FileTurn(at: folder + "/lock", within: patience)
  }

  private func file(_ name: BaseImageName) -> AtomicFile {
    AtomicFile(path: "\(folder)/\(name.text)", limit: Int(name.size), writing: writing)
  }

  /// The bytes of a file that is what its name says.
  private func read(_ name: BaseImageName) throws(StateFault) -> [UInt8]? {
    let file = file(name)
    do throws(StateFault) {
      guard let bytes = try file.read() else { return nil }
      if bytes.count == Int(name.size), BaseImageName(of: bytes) == name {
        markUsed(name)
        return bytes
      }
    } catch .tooLarge {
      // As wrong as one that is too short.
    }
    tellSetAside(try file.setAside())
    return nil
  }

  /// An image whose file cannot be marked is removed earlier; nothing else depends on it.
  private func markUsed(_ name: BaseImageName) {
    let time = now()
    utimensat(AT_FDCWD, file(name).path, [time, time], 0)
  }

  private static func now() -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time
  }
}

/// What lies in the folder.
extension BaseImages {
  private struct KeptFile {
    let name: BaseImageName
    let path: String
    /// Damaged, and kept for a person to look at.
    let isAside: Bool
    let bytes: Int
    let used: timespec
  }

  /// Our files: those that were put aside, then images, and of both what was not used for longest
  /// first.
  private func files() throws(StateFault) -> [KeptFile] {
    var files: [KeptFile] = []
    for text in try FolderNames.read(folder, atMost: Self.namesMaximum) {
      let isAside = text.hasSuffix(Self.asideSuffix)
      let stem = isAside ? text.dropLast(Self.asideSuffix.count) : text[...]
      guard let name = BaseImageName(stem) else { continue }
      let path = "\(folder)/\(text)"
      var status = stat()
      // Gone since its name was read.
      guard stat(path, &status) == 0 else { continue }
      files.append(
        KeptFile(
          name: name, path: path, isAside: isAside, bytes: Int(status.st_size),
          used: status.st_mtim))
    }
    return files.sorted {
      ($0.isAside ? 0 : 1, $0.used.tv_sec, $0.used.tv_nsec)
        < ($1.isAside ? 0 : 1, $1.used.tv_sec, $1.used.tv_nsec)
    }
  }

  /// Removes what others left half written, and then images, until another one fits.
  private func makeRoom(for bytes: Int) throws(StateFault) {
    try removeDrafts()
    let files = try files()
    var total = files.reduce(bytes) { $0 + $1.bytes }
    for (index, file) in files.enumerated() {
      if total <= limit && files.count - index < Self.capacity { return }
      try AtomicFile(path: file.path, limit: 0).remove()
      total -= file.bytes
    }
  }

  /// Only who has the turn writes, so nobody writes these any more.
  private func removeDrafts() throws(StateFault) {
    for text in try FolderNames.read(
      folder, suffix: Self.draftSuffix, atMost: Self.namesMaximum)
    where BaseImageName(text.prefix { $0 != "." }) != nil {
      try AtomicFile(path: "\(folder)/\(text)", limit: 0).remove()
    }
  }
}
