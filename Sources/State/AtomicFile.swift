import Glibc

/// The system calls that write a file; tests replace them with failing calls.
struct FileWriting: Sendable {
  /// Calls write(2); returns the number of written bytes, or -1 with errno set.
  var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
  /// Calls fsync(2); returns 0, or -1 with errno set.
  var flush: @Sendable (Int32) -> Int32

  static let system = FileWriting(
    write: { Glibc.write($0, $1.baseAddress, $1.count) },
    flush: { fsync($0) })
}

/// A small file that is replaced atomically: after a crash, or if the disk is full, the file
/// contains either its old or its new content.
struct AtomicFile: Sendable {
  let path: String
  /// The maximum size in bytes; otaflash writes no larger file.
  let limit: Int
  var writing = FileWriting.system

  /// Returns the content; `nil` if there is no file.
  func read() throws(StateFault) -> [UInt8]? {
    let bytes: [UInt8]?
    do throws(FileErrno.Failure) {
      // O_NONBLOCK prevents a wait if the path is the path of a pipe.
      let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
      bytes = try file.isRegular() ? file.read(atMost: limit) : nil
    } catch {
      if error.errno == .noEntry { return nil }
      throw StateFault(.read, path: path, error.errno)
    }
    guard let bytes else { throw .notAFile(path: path) }
    guard bytes.count <= limit else { throw .tooLarge(path: path, limit: limit) }
    return bytes
  }

  /// Writes a draft next to the file, flushes the draft, and replaces the file with the draft
  /// (rename(2)). The directory is flushed last, so that the new content survives a power loss.
  func replace(with bytes: [UInt8]) throws(StateFault) {
    let draft = "\(path).\(getpid()).new"
    do throws(StateFault) {
      try write(bytes, to: draft)
      guard rename(draft, path) == 0 else { throw StateFault(.replace, path: path, .current) }
    } catch {
      // Only the first error is reported; the next call replaces a draft that was not removed.
      unlink(draft)
      throw error
    }
    try flushDirectory()
  }

  /// Removes the file if it exists.
  func remove() throws(StateFault) {
    guard unlink(path) == 0 || FileErrno.current == .noEntry else {
      throw StateFault(.remove, path: path, .current)
    }
  }

  /// Renames a damaged file, so that the user can examine it.
  ///
  /// - Returns: the new path. An existing file with this path is replaced.
  func setAside() throws(StateFault) -> String {
    let aside = path + ".damaged"
    guard rename(path, aside) == 0 else { throw StateFault(.replace, path: path, .current) }
    return aside
  }

  private func write(_ bytes: [UInt8], to draft: String) throws(StateFault) {
    let file = try FileDescriptor(
      opening: draft, for: path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, as: .open)
    do throws(FileErrno.Failure) {
      try write(bytes, to: file)
    } catch {
      throw StateFault(.write, path: path, error.errno)
    }
    do throws(FileErrno.Failure) {
      _ = try FileErrno.checked { writing.flush(file.number) }
    } catch {
      throw StateFault(.flush, path: path, error.errno)
    }
  }

  private func write(
    _ bytes: [UInt8], to file: borrowing FileDescriptor
  ) throws(FileErrno.Failure) {
    let number = file.number
    var written = 0
    while written < bytes.count {
      let count = try FileErrno.checked {
        bytes.withUnsafeBytes { all in
          writing.write(number, UnsafeRawBufferPointer(rebasing: all[written...]))
        }
      }
      // write(2) returns 0 for a regular file only if the disk is full.
      guard count > 0 else { throw FileErrno.Failure(errno: .noSpace) }
      written += count
    }
  }

  private func flushDirectory() throws(StateFault) {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    do throws(FileErrno.Failure) {
      let file = try FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY)
      _ = try FileErrno.checked { writing.flush(file.number) }
    } catch {
      throw StateFault(.flush, path: directory, error.errno)
    }
  }
}
