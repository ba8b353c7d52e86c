import Glibc

extension OutputFile {
  /// Writes a new file, or replaces a file of the same kind. Afterwards the file contains either
  /// all of `bytes` or its previous content. Pipes and terminals are written directly.
  package func replace(with bytes: [UInt8], avoiding inputs: InputFiles) throws(OutputFileFault) {
    try check(avoiding: inputs)
    var status = stat()
    guard stat(path, &status) == 0 else {
      // The path is a link whose target the command line did not specify.
      guard lstat(path, &status) != 0 else { throw .danglingLink }
      return try place(bytes, at: path, mode: 0o666)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return try write(bytes, avoiding: inputs) }
    guard access(path, W_OK) == 0, let target = realpath(path, nil) else {
      throw .system(errno: errno)
    }
    defer { free(target) }
    try place(bytes, at: String(cString: target), mode: status.st_mode & 0o777)
  }

  /// Writes a temporary file in the same folder, and renames it to the path.
  private func place(_ bytes: [UInt8], at target: String, mode: mode_t) throws(OutputFileFault) {
    let draft = "\(target).\(getpid()).new"
    let descriptor = Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .system(errno: errno) }
    var failure = FileOutput(descriptor: descriptor).write(bytes)
    if failure == nil, fsync(descriptor) != 0 { failure = errno }
    if close(descriptor) != 0, failure == nil { failure = errno }
    if failure == nil, rename(draft, target) != 0 { failure = errno }
    guard let failure else { return }
    unlink(draft)
    throw .system(errno: failure)
  }
}
