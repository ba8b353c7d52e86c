import Glibc

extension OutputFile {
  /// Writes a new file, or over an old one of its kind: it holds all of `bytes`, or what it held
  /// before. A pipe or a terminal is written to as it is.
  package func replace(with bytes: [UInt8], avoiding inputs: InputFiles) throws(OutputFileFault) {
    try check(avoiding: inputs)
    var status = stat()
    guard stat(path, &status) == 0 else {
      // What a link leads to was never named.
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

  /// Writes beside the place, and renames.
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
