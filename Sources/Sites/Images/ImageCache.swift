#if Sites
import Glibc
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS

/// Provides the images of a gateway, from its folder or from the bucket `FW`. Images are identified
/// by their SHA-256, which is verified each time. The caller must verify the signature, because
/// only the caller has the key of the campaign.
package actor ImageCache {
  /// The maximum number of jobs that wait for transfers.
  private static let waitersMaximum = 1024

  private let entries: any SiteEntries
  private let folder: ImageFolder
  private let limit: Int
  private let transfers = SerialGate(waitersMaximum: waitersMaximum)
  /// The number of users of each image, by digest.
  private var users: [String: Int] = [:]
  /// The number of the last use of each image in this process, by digest.
  private var uses: [String: Int] = [:]
  private var useCount = 0

  /// - Parameters:
  ///   - folder: the folder, which is created if it does not exist.
  ///   - limit: the maximum size of the folder in bytes. An image that exceeds the limit is not
  ///   stored.
  package init(
    _ entries: any SiteEntries, folder: String, limit: Int
  ) throws(SiteImageFault) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .file(SiteFileFault(folder))
    }
    self.entries = entries
    self.folder = ImageFolder(path: folder)
    self.limit = limit
  }

  /// Returns an image, which remains in the folder until `release` is called. One transfer runs at
  /// a time.
  package func acquire(_ digest: String) async throws(SiteImageFault) -> [UInt8] {
    try ImageKey.check(digest)
    users[digest, default: 0] += 1
    do throws(SiteImageFault) {
      if let bytes = try stored(digest) { return bytes }
      guard await transfers.enter() == .entered else { throw .cancelled }
      defer { transfers.leave() }
      // Another job may have transferred the image in the meantime.
      if let bytes = try stored(digest) { return bytes }
      return try await transfer(digest)
    } catch {
      release(digest)
      throw error
    }
  }

  /// Ends one use of an image. Call this function once for each successful `acquire`.
  package func release(_ digest: String) {
    guard let count = users[digest] else { return }
    users[digest] = count > 1 ? count - 1 : nil
  }

  // MARK: The folder

  /// Returns an image from the folder; `nil` if the folder has no valid image. A damaged file is
  /// removed.
  private func stored(_ digest: String) throws(SiteImageFault) -> [UInt8]? {
    let path = folder.image(digest)
    do throws(SiteFileFault) {
      guard let bytes = try SiteFile.read(path, atMost: ImageManifest.sizeMaximum) else {
        return nil
      }
      guard ImageManifest.hex(ImageManifest.sha256(bytes[...])) == digest else {
        try folder.remove(path)
        return nil
      }
      useCount += 1
      uses[digest] = useCount
      folder.touch(digest)
      return bytes
    } catch {
      throw .file(error)
    }
  }

  /// Removes the least recently used images until `size` bytes are free; returns `false` if `size`
  /// exceeds the limit, or if the remaining images are in use.
  private func makeRoom(for size: Int, of digest: String) throws(SiteImageFault) -> Bool {
    guard size <= limit else { return false }
    do throws(SiteFileFault) {
      let files = try folder.files().filter { $0.digest != digest }
      var total = files.reduce(0) { $0 + $1.size }
      let candidates = files.filter { users[$0.digest] == nil }.sorted {
        (uses[$0.digest] ?? 0, $0.used, $0.path) < (uses[$1.digest] ?? 0, $1.used, $1.path)
      }
      for file in candidates where total + size > limit {
        try folder.remove(file.path)
        uses[file.digest] = nil
        total -= file.size
      }
      return total + size <= limit
    } catch {
      throw .file(error)
    }
  }

  // MARK: Transfer

  private func transfer(_ digest: String) async throws(SiteImageFault) -> [UInt8] {
    var download = try await ImageDownload(
      digest, from: entries, atMost: ImageManifest.sizeMaximum)
    let size = download.manifest.size
    guard try makeRoom(for: size, of: digest) else { return try await download.finish { _, _ in } }
    let partial = try Self.onDisk { [folder] () throws(SiteFileFault) in
      try SiteFile.read(folder.part(digest), atMost: ImageManifest.sizeMaximum)
    }
    if let partial { download.add(partial: partial) }
    let file = try Self.onDisk { [folder] () throws(SiteFileFault) in
      try folder.openPart(digest, size: size)
    }
    let bytes = try await download.finish { (offset, chunk) throws(SiteFileFault) in
      try file.write(chunk, at: offset)
    }
    try Self.onDisk { [folder] () throws(SiteFileFault) in try folder.complete(digest, file) }
    useCount += 1
    uses[digest] = useCount
    return bytes
  }

  private static func onDisk<Value: ~Copyable>(
    _ body: () throws(SiteFileFault) -> Value
  ) throws(SiteImageFault) -> Value {
    do throws(SiteFileFault) { return try body() } catch { throw .file(error) }
  }
}
#endif
