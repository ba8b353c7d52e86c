import Glibc

/// The reason why an output file of the command line is not written.
package enum OutputFileFault: Error, Equatable {
  /// The run reads the file, or stores its state in it.
  case isInput
  /// The file exists and is of another kind.
  case otherKind
  /// The path is a link with a missing target, which the command line did not specify.
  case danglingLink
  case system(errno: Int32)
}

/// An output file of the command line. Writing this file never destroys other data: it must not be
/// a file that the run reads or in which the run stores its state, even under another name. Only a
/// file of the same kind, an empty file, a pipe or a character device is overwritten. Links are
/// followed if their target exists.
package struct OutputFile: Equatable, Sendable {
  package let path: String
  package let kind: Kind
  /// The long option that specified the file.
  package let option: String

  package init(path: String, kind: Kind, option: String) {
    self.path = path
    self.kind = kind
    self.option = option
  }

  /// Checks whether `open` would succeed, without changing anything.
  package func check(avoiding inputs: InputFiles) throws(OutputFileFault) {
    if let descriptor = try openExisting(O_RDONLY | O_NONBLOCK) {
      defer { close(descriptor) }
      try inspect(descriptor, avoiding: inputs)
    } else {
      try inputs.checkNewFile(at: path)
      guard access(Self.folder(of: path), W_OK) == 0 else { throw .system(errno: errno) }
    }
  }

  /// Opens the file for writing, and truncates it. Only the owner can access a new private file;
  /// the permissions of an existing file are not changed.
  package func open(
    avoiding inputs: InputFiles, isPrivate: Bool
  ) throws(OutputFileFault) -> Int32 {
    if let descriptor = try openExisting(existingMode) {
      do throws(OutputFileFault) {
        try inspect(descriptor, avoiding: inputs)
        // A pipe cannot be truncated.
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
          throw .system(errno: errno)
        }
        // O_NONBLOCK was only for the opening of a pipe, which must not wait for a reader; writes
        // block as usual.
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

  /// Writes a new file, or overwrites a file of the same kind.
  package func write(_ bytes: [UInt8], avoiding inputs: InputFiles) throws(OutputFileFault) {
    let descriptor = try open(avoiding: inputs, isPrivate: false)
    let failure = FileOutput(descriptor: descriptor).write(bytes)
    let isClosed = close(descriptor) == 0
    if let errno = failure ?? (isClosed ? nil : errno) { throw .system(errno: errno) }
  }

  /// The flags for opening an existing file. A pipe is opened only for writing, because its content
  /// is not read.
  private var existingMode: Int32 {
    var status = stat()
    let isPipe = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    return (isPipe ? O_WRONLY : O_RDWR) | O_NONBLOCK | O_NOCTTY
  }

  /// Opens an existing file; `nil` = there is no file.
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

  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// The files that a run must not overwrite: the files that it reads, and the files of its state.
package struct InputFiles: Sendable {
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
  ///   - paths: files; missing files are ignored.
  ///   - folders: folders of the program, directly in which no file may be created.
  package init(_ paths: [String] = [], folders: [String] = []) {
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
