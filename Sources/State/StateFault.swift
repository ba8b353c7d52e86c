import OtaflashGATT

/// The reason why a file of the state directory could not be written or read, or why a lock could
/// not be acquired.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum StateFault: Error, Equatable, Sendable {
  /// Neither XDG_STATE_HOME nor HOME is an absolute path.
  case noPlace
  /// The file system or the user's quota is full; the former content is unchanged.
  case diskFull(path: String)
  /// The user lacks the permission, or the file system is read-only.
  case permissionDenied(path: String)
  /// A path that must be a directory has another type.
  case notADirectory(path: String)
  /// The path cannot be used: it is too long, it has too many symbolic links, or a directory on it
  /// cannot be created.
  case impossiblePlace(path: String, FileErrno)
  /// A path that must be a regular file has another type, such as a pipe.
  case notAFile(path: String)
  /// The file is larger than the limit, in bytes.
  case tooLarge(path: String, limit: Int)
  /// A later version of otaflash wrote the file. This version does not use the file, because a
  /// change could lose content.
  case newerFormat(path: String, format: Int)
  /// Another process, or another task of this process, uses the device; `nil` means that the pid of
  /// the holder is unknown.
  case deviceBusy(device: String, holder: Int32?)
  /// Another process has locked the list of devices, the aliases or the stored images for longer
  /// than the time limit.
  case registryBusy(path: String, waited: Duration)
  /// Any other failed system call.
  case system(FileOperation, path: String, FileErrno)

  init(_ operation: FileOperation, path: String, _ errno: FileErrno) {
    self =
      switch errno {
      case .noSpace, .quotaExceeded: .diskFull(path: path)
      case .accessDenied, .notPermitted, .readOnlyFileSystem: .permissionDenied(path: path)
      case .notADirectory: .notADirectory(path: path)
      case .nameTooLong, .linksLoop: .impossiblePlace(path: path, errno)
      case .noEntry where operation == .makeDirectory: .impossiblePlace(path: path, errno)
      default: .system(operation, path: path, errno)
      }
  }
}

/// The operations on files that can fail.
public enum FileOperation: String, Equatable, Sendable {
  /// open(2) of an existing or a new file.
  case open
  /// read(2).
  case read
  /// write(2).
  case write
  /// fsync(2) of a file or its directory.
  case flush
  /// A lock between processes (flock(2), or bind(2) of a name).
  case lock
  /// rename(2), which replaces the old file atomically.
  case replace = "rename"
  /// unlink(2).
  case remove = "unlink"
  /// mkdir(2), or another operation on a directory.
  case makeDirectory = "mkdir"
}

extension StateFault: ExplainedFault {
  public var summary: String { description }

  public var explanation: String {
    switch self {
    case .deviceBusy: "Only one process at a time can use a device."
    case .registryBusy:
      "The process that holds the lock is probably unresponsive, or waits for a disk."
    case .noPlace, .diskFull, .permissionDenied, .notADirectory, .impossiblePlace, .notAFile,
      .tooLarge, .newerFormat, .system:
      "The state directory contains locks, resume hints and the list of devices; XDG_STATE_HOME "
        + "sets its location."
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .deviceBusy: .wait
    case .registryBusy: .tryAgain
    case .newerFormat: .updateSoftware
    case .permissionDenied(let path): .checkPermissions(path: path)
    case .noPlace, .diskFull, .notADirectory, .impossiblePlace, .notAFile, .tooLarge, .system: nil
    }
  }

  /// The fault, as a clause.
  public var description: String {
    switch self {
    case .noPlace: "no state directory: neither XDG_STATE_HOME nor HOME is an absolute path"
    case .diskFull(let path): "\(path) cannot be written: the disk or the quota is full"
    case .permissionDenied(let path): "\(path): permission denied"
    case .notADirectory(let path): "\(path) is not a directory"
    case .impossiblePlace(let path, let errno): "the path \(path) cannot be used: \(errno)"
    case .notAFile(let path): "\(path) is not a regular file"
    case .tooLarge(let path, let limit):
      "\(path) is larger than \(limit) bytes; otaflash does not write such files"
    case .newerFormat(let path, let format):
      "\(path) has format \(format), written by a later otaflash"
    case .deviceBusy(let device, let holder?): "\(device) is in use by process \(holder)"
    case .deviceBusy(let device, nil): "\(device) is in use by another process"
    case .registryBusy(let path, let waited):
      "\(path) was locked by another process for \(waited.components.seconds) s"
    case .system(let operation, let path, let errno): "\(operation.rawValue) \(path): \(errno)"
    }
  }
}
