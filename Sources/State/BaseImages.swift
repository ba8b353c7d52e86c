import Glibc

/// The images that may run on devices of this host, in one file for each image. They are used as
/// bases for patches.
///
/// A file is used only if its bytes match the size, CRC32 and SHA-256 in its name; otherwise the
/// file is renamed. The total size is limited, and the least recently used images are removed
/// first. Several processes may store and find images at the same time.
public struct BaseImages: Sendable {
  /// The default limit for the total size of all images: 64 MiB.
  public static let defaultLimit = 64 << 20
  /// The maximum number of stored images.
  static let capacity = 256
  /// The maximum number of names read from the folder, which may contain other files.
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
  ///   - directory: an existing directory (`StateDirectory.create()`).
  ///   - limit: the limit for the bytes of all images; a larger image is not stored.
  ///   - tellSetAside: receives the new path of a damaged file.
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

  /// Finds the most recently used image with this size in bytes and this CRC32, and marks the image
  /// as used now.
  ///
  /// - Returns: the bytes of the image; `nil` if the image is not stored.
  public func find(size: UInt32, crc32: UInt32) throws(StateFault) -> [UInt8]? {
    let turn = try takeTurn()
    defer { extendLifetime(turn) }
    let found = try files().filter { $0.name.size == size && $0.name.crc32 == crc32 }
    for file in found.reversed() where !file.isAside {
      if let bytes = try read(file.name) { return bytes }
    }
    return nil
  }

  /// Stores an image that is not empty, and removes other images if the limit is exceeded. An image
  /// that is already stored is marked as used now; an image that exceeds the total limit is not
  /// stored.
  /// - Throws: faults of the storage, such as `.diskFull`; the stored images stay valid.
  public func keep(_ bytes: [UInt8]) throws(StateFault) {
    precondition(!bytes.isEmpty, "an image is not empty")
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

  /// Returns the contents of the file; `nil` if the file does not exist, or if its contents do not
  /// match the size, CRC32 and SHA-256 in its name. A file that does not match is renamed.
  private func read(_ name: BaseImageName) throws(StateFault) -> [UInt8]? {
    let file = file(name)
    do throws(StateFault) {
      guard let bytes = try file.read() else { return nil }
      if bytes.count == Int(name.size), BaseImageName(of: bytes) == name {
        markUsed(name)
        return bytes
      }
    } catch .tooLarge {
      // A file that is too long also counts as damaged.
    }
    tellSetAside(try file.setAside())
    return nil
  }

  /// Marks an image as used now. If this fails, the only effect is that the image is removed
  /// earlier.
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

/// The files in the folder.
extension BaseImages {
  private struct KeptFile {
    let name: BaseImageName
    let path: String
    /// Whether the file was damaged and was renamed.
    let isAside: Bool
    let bytes: Int
    let used: timespec
  }

  /// Returns the damaged files and then the images, both sorted by their last use, the oldest
  /// first.
  private func files() throws(StateFault) -> [KeptFile] {
    var files: [KeptFile] = []
    for text in try FolderNames.read(folder, atMost: Self.namesMaximum) {
      let isAside = text.hasSuffix(Self.asideSuffix)
      let stem = isAside ? text.dropLast(Self.asideSuffix.count) : text[...]
      guard let name = BaseImageName(stem) else { continue }
      let path = "\(folder)/\(text)"
      var status = stat()
      // The file was removed after its name was read.
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

  /// Removes all incomplete files. Then removes damaged files and the least recently used images,
  /// until an image of this many bytes fits.
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

  /// Removes incomplete files. Only the process that holds the lock writes files, so no process is
  /// still writing an incomplete file.
  private func removeDrafts() throws(StateFault) {
    for text in try FolderNames.read(
      folder, suffix: Self.draftSuffix, atMost: Self.namesMaximum)
    where BaseImageName(text.prefix { $0 != "." }) != nil {
      try AtomicFile(path: "\(folder)/\(text)", limit: 0).remove()
    }
  }
}
