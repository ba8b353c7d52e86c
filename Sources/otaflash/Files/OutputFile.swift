import Glibc
import OtaflashDelta
import OtaflashFirmware

/// Why a file that the command line names is not written to.
enum OutputFileFault: Error, Equatable {
  /// The run reads it, or keeps its state there.
  case isInput
  /// It is there, and is not of the kind that would be written over it.
  case otherKind
  /// A link whose target is missing: what it leads to was never named.
  case danglingLink
  case system(errno: Int32)
}

/// A file that the command line wants written. Nothing that is worth something is lost by it: it is
/// never a file that the run reads or keeps its state in, under whatever name, and what is written
/// over is a file of the same kind, an empty one, a pipe or a terminal. Links are followed to a
/// file that is there.
struct OutputFile: Equatable, Sendable {
  /// What a file of this kind begins with.
  enum Kind: Equatable, Sendable {
    case btsnoop, svg, png, html, junit, csv, patch, plan, head, signature, prometheus
  }

  let path: String
  let kind: Kind
  /// The long option that named it.
  let option: String

  /// Looks whether `open` would succeed, and changes nothing.
  func check(avoiding inputs: InputFiles) throws(OutputFileFault) {
    if let descriptor = try openExisting(O_RDONLY | O_NONBLOCK) {
      defer { close(descriptor) }
      try inspect(descriptor, avoiding: inputs)
    } else {
      try inputs.checkNewFile(at: path)
      guard access(Self.folder(of: path), W_OK) == 0 else { throw .system(errno: errno) }
    }
  }

  /// Opens the file for writing, empty. A new one that `isPrivate` is for its owner alone; the
  /// permissions of one that is there are its owner's business.
  func open(
    avoiding inputs: InputFiles, isPrivate: Bool
  ) throws(OutputFileFault) -> Int32 {
    if let descriptor = try openExisting(existingMode) {
      do throws(OutputFileFault) {
        try inspect(descriptor, avoiding: inputs)
        // A pipe cannot be cut, and need not.
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
          throw .system(errno: errno)
        }
        // Pipes alone were opened without waiting for a reader; writing waits as ever.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
      } catch {
        close(descriptor)
        throw error
      }
      return descriptor
    }
    try inputs.checkNewFile(at: path)
    let descriptor = Glibc.open(
      path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
    guard descriptor >= 0 else {
      throw errno == EEXIST ? .danglingLink : .system(errno: errno)
    }
    return descriptor
  }

  /// Writes a new file, or over an old one of its kind.
  func write(_ bytes: [UInt8], avoiding inputs: InputFiles) throws(OutputFileFault) {
    let descriptor = try open(avoiding: inputs, isPrivate: false)
    let failure = FileOutput(descriptor: descriptor).write(bytes)
    let isClosed = close(descriptor) == 0
    if let errno = failure ?? (isClosed ? nil : errno) { throw .system(errno: errno) }
  }

  /// A pipe is not read to see what it holds.
  private var existingMode: Int32 {
    var status = stat()
    let isPipe = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    return (isPipe ? O_WRONLY : O_RDWR) | O_NONBLOCK | O_NOCTTY
  }

  /// `nil` when there is no file.
  private func openExisting(_ flags: Int32) throws(OutputFileFault) -> Int32? {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC)
    if descriptor >= 0 { return descriptor }
    if errno == ENOENT { return nil }
    throw .system(errno: errno)
  }

  private func inspect(
    _ descriptor: Int32, avoiding inputs: InputFiles
  ) throws(OutputFileFault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
    guard !inputs.contains(status) else { throw .isInput }
    switch status.st_mode & S_IFMT {
    case S_IFIFO, S_IFCHR: return
    case S_IFREG:
      var head = [UInt8](repeating: 0, count: min(kind.headSize, Int(status.st_size)))
      let count = pread(descriptor, &head, head.count, 0)
      guard count >= 0 else { throw .system(errno: errno) }
      guard count == 0 || kind.begins(head.prefix(count)) else { throw .otherKind }
    default: throw .otherKind
    }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension OutputFile.Kind {
  var name: String {
    switch self {
    case .btsnoop: "btsnoop"
    case .svg: "SVG"
    case .png: "PNG"
    case .html: "HTML"
    case .junit: "JUnit"
    case .csv: "CSV"
    case .patch: "patch"
    case .plan: "plan"
    case .head: "run head"
    case .signature: "signature"
    case .prometheus: "Prometheus"
    }
  }

  /// Bytes that tell the kind. Of a patch all do: it has no magic.
  fileprivate var headSize: Int {
    switch self {
    case .btsnoop, .svg, .png, .html, .junit, .csv, .plan, .head, .signature, .prometheus: 512
    case .patch: FirmwareImage.defaultLimit
    }
  }

  fileprivate func begins(_ head: ArraySlice<UInt8>) -> Bool {
    switch self {
    // RFC 1761's layout, with another name.
    case .btsnoop: head.starts(with: Array("btsnoop\0".utf8))
    case .html: Self.text(head).lowercased().hasPrefix("<!doctype html>")
    case .junit: Self.text(head).contains("<testsuites")
    // The first column of a report.
    case .csv: Self.text(head).hasPrefix("device,")
    case .patch: PatchFile(of: Array(head)) != nil
    case .plan: Self.text(head).hasPrefix("{\n  \"_otaflash_plan\" : ")
    case .head: Self.text(head).hasPrefix("otaflash run head ")
    case .prometheus: Self.text(head).hasPrefix("# HELP otaflash_run_")
    // OpenSSH's PROTOCOL.sshsig, "Armored format"; minisign's "Signature format".
    case .signature:
      ["-----BEGIN SSH SIGNATURE-----", "untrusted comment:"].contains {
        Self.text(head).hasPrefix($0)
      }
    // PNG specification, 5.2.
    case .png: head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    case .svg:
      Self.text(head)
        .firstMatch(
          of: /^\u{FEFF}?\s*(<\?xml[^>]*>\s*|<!--(?s:.)*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg[\s>]/)
        != nil
    }
  }

  private static func text(_ head: ArraySlice<UInt8>) -> String {
    String(decoding: head, as: UTF8.self)
  }
}

/// The files that a run reads or keeps its state in; nothing else of it may be written there.
struct InputFiles: Sendable {
  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
      device = status.st_dev
      inode = status.st_ino
    }

    init?(path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }
  }

  private var files: Set<Identity>
  private var folders: Set<Identity>

  /// - Parameters:
  ///   - paths: files; those that are not there are nobody's input.
  ///   - folders: whatever lies directly in them is ours.
  init(_ paths: [String] = [], folders: [String] = []) {
    files = Set(paths.compactMap(Identity.init(path:)))
    self.folders = Set(folders.compactMap(Identity.init(path:)))
  }

  fileprivate func contains(_ status: stat) -> Bool { files.contains(Identity(status)) }

  fileprivate func checkNewFile(at path: String) throws(OutputFileFault) {
    guard let folder = Identity(path: OutputFile.folder(of: path)), folders.contains(folder)
    else { return }
    throw .isInput
  }
}
