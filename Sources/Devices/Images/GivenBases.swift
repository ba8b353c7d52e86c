import Glibc
import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate
import Synchronization

/// The target of `--base`: an image, or a folder that may contain the running image.
package final class GivenBases: Sendable {
  /// The maximum number of files of a folder to read.
  private static let filesMaximum = 1000

  private enum Content: Sendable {
    case image(name: String, parts: [[UInt8]])
    /// The files to read when the identity of the running image is known.
    case folder(String, files: [String], hasMore: Bool)
  }

  private let content: Content
  private let region: AddressRegion?
  private let console: Console
  /// Whether the missing base was reported.
  private let hasReported = Mutex(false)

  /// - Throws: if the file is unreadable or not an image, for example a patch.
  package init(_ path: String, in region: AddressRegion?, _ session: Session) throws(CommandFault) {
    self.region = region
    console = session.console
    if let files = FolderContent.files(of: path, atMost: Self.filesMaximum + 1) {
      content = .folder(
        path, files: Array(files.prefix(Self.filesMaximum)),
        hasMore: files.count > Self.filesMaximum)
    } else {
      let package = try ImageSource.loadPackage(path, saying: ImageIdentity(), in: region, session)
      for part in package.parts {
        guard let patch = part.patchFile else { continue }
        throw .patchFile(name: part.name, path: path, patch)
      }
      content = .image(name: path, parts: package.parts.map(\.bytes))
    }
  }

  /// The bytes of the specified image; `nil` if the target is a folder, or a package with several
  /// images.
  package var onlyImage: [UInt8]? {
    if case .image(_, let parts) = content, parts.count == 1 { parts[0] } else { nil }
  }

  /// Returns the bytes of the running image; `nil` if they are not available, which is reported
  /// once.
  package func bytes(of running: ContentIdentity) -> [UInt8]? {
    let found =
      switch content {
      case .image(_, let parts): parts.first { Self.identity($0) == running }
      case .folder(let folder, let files, _): search(folder, files, for: running)
      }
    if found == nil { reportMissing(running) }
    return found
  }

  /// Returns the running image; `nil` if it is not in the folder. Skips files that are not images.
  private func search(
    _ folder: String, _ files: [String], for running: ContentIdentity
  ) -> [UInt8]? {
    for file in files where Self.mayHoldImage("\(folder)/\(file)") {
      do throws(ImageFileFault) {
        let package = try ImageFile.loadPackage("\(folder)/\(file)", region: region)
        let bytes = package.parts.map(\.bytes).first { Self.identity($0) == running }
        if let bytes { return bytes }
      } catch {
        console.note("  \(folder)/\(file) is not a base: \(error)", verbosity: 1)
      }
    }
    return nil
  }

  /// Returns whether the file can be read without blocking: a link may lead to a pipe, and files of
  /// /proc, which have no size, may block.
  private static func mayHoldImage(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
  }

  private func reportMissing(_ running: ContentIdentity) {
    let isNews = hasReported.withLock { hasReported in
      defer { hasReported = true }
      return !hasReported
    }
    guard isNews else { return }
    switch content {
    case .image(let name, let parts):
      let words = parts.map { Self.identity($0).words }.joined(separator: "; ")
      console.note("  \(name) (\(words)) is not the running image (\(running.words))")
    case .folder(let folder, let files, let hasMore):
      let count = Text.grouped(files.count)
      console.note(
        "  none of \(hasMore ? "\(count) files" : "the \(count) files") in \(folder) is the "
          + "running image (\(running.words))"
          + (hasMore ? "; the folder contains more files, which were not read" : ""))
    }
  }

  private static func identity(_ bytes: [UInt8]) -> ContentIdentity {
    ContentIdentity(size: bytes.count, crc32: CRC32.checksum(bytes))
  }
}

extension StateStore {
  /// Returns the source of base images for an update: the user's images, then the cache.
  package func bases(besides given: GivenBases?) -> BaseFinder {
    BaseFinder(computation: Self.computation) { running in
      given?.bytes(of: running) ?? keptImage(running)
    }
  }

  /// Reserves one processor for the links, if there are several.
  private static let computation = Computation.threads(
    atMost: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1))

  private var images: BaseImages {
    BaseImages(in: directory) { [console] path in console.note("kept image", setAside: path) }
  }

  private func keptImage(_ running: ContentIdentity) -> [UInt8]? {
    guard let size = UInt32(exactly: running.size) else { return nil }
    let found = console.attempt(orNote: "the cached images were not read") {
      () throws(StateFault) in try images.find(size: size, crc32: running.crc32)
    }
    return found ?? nil
  }

  /// Caches a verified running image: the next image may be sent as a patch against it.
  package func keep(_ package: FirmwarePackage) {
    // Devices that support patches have one image.
    guard let part = package.parts.first, package.parts.count == 1, !part.bytes.isEmpty else {
      return
    }
    console.attempt(orNote: "\(part.name) was not stored for patches") { () throws(StateFault) in
      try images.keep(part.bytes)
    }
  }
}
