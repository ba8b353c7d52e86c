#if Sites
import Glibc

/// The folder in which a gateway stores images: `DIGEST.image`, and `DIGEST.part` for interrupted
/// transfers. The readers of a file verify its content.
struct ImageFolder {
  struct File {
    let digest: String
    let path: String
    let size: Int
    /// The time of the last use in nanoseconds, on the clock of the file system.
    let used: Int64
  }

  private static let suffixes = [".image", ".part"]

  let path: String

  func image(_ digest: String) -> String { "\(path)/\(digest).image" }
  func part(_ digest: String) -> String { "\(path)/\(digest).part" }

  /// Returns the images and the interrupted transfers.
  func files() throws(SiteFileFault) -> [File] {
    guard let folder = opendir(path) else { throw SiteFileFault(path) }
    defer { closedir(folder) }
    var files: [File] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let suffix = Self.suffixes.first(where: name.hasSuffix) else { continue }
      let file = "\(path)/\(name)"
      var facts = stat()
      // The file was removed in the meantime.
      guard lstat(file, &facts) == 0 else { continue }
      files.append(
        File(
          digest: String(name.dropLast(suffix.count)), path: file, size: Int(facts.st_size),
          used: Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)))
    }
    return files
  }

  /// Records the use of an image for later processes. The record only affects the order in which
  /// images are removed.
  func touch(_ digest: String) { _ = utimensat(AT_FDCWD, image(digest), nil, 0) }

  func remove(_ path: String) throws(SiteFileFault) {
    guard unlink(path) == 0 || errno == ENOENT else { throw SiteFileFault(path) }
  }

  /// Opens the file of a transfer. Bytes of an earlier transfer after `size` bytes are removed.
  func openPart(_ digest: String, size: Int) throws(SiteFileFault) -> PartFile {
    let file = try PartFile(part(digest))
    try file.resize(to: size)
    return file
  }

  /// Renames the file of a complete transfer to the name of an image.
  func complete(_ digest: String, _ file: borrowing PartFile) throws(SiteFileFault) {
    try file.flush()
    guard rename(part(digest), image(digest)) == 0 else { throw SiteFileFault(image(digest)) }
    try SiteFile.flushFolder(of: image(digest))
  }
}

/// The open file of a transfer.
struct PartFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(SiteFileFault) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SiteFileFault(path) }
  }

  deinit { close(descriptor) }

  func resize(to size: Int) throws(SiteFileFault) {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw SiteFileFault(path) }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(SiteFileFault) {
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(
          descriptor, $0.baseAddress.map { $0 + start }, bytes.count - start,
          off_t(offset + start))
      }
      guard count > 0 || errno == EINTR else { throw SiteFileFault(path) }
      start += max(count, 0)
    }
  }

  func flush() throws(SiteFileFault) {
    guard fsync(descriptor) == 0 else { throw SiteFileFault(path) }
  }
}
#endif
