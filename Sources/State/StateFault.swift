import OtaflashGATT

/// Why something of ours could not be kept on disk, or read back.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum StateFault: Error, Equatable, Sendable {
  /// Neither XDG_STATE_HOME nor HOME names an absolute path.
  case noPlace
  /// The file system or the user's quota is full; the former content is still there.
  case diskFull(path: String)
  /// Permission refused, or the file system is read-only.
  case permissionDenied(path: String)
  /// Something else stands where a directory belongs.
  case notADirectory(path: String)
  /// No such directory can be made: its name is too long, or it would lie where none can.
  case impossiblePlace(path: String, FileErrno)
  /// Something else, such as a pipe, stands where a file belongs.
  case notAFile(path: String)
  /// The file is larger than anything we write, in bytes.
  case tooLarge(path: String, limit: Int)
  /// A later otaflash wrote the file; this one would lose what it does not know.
  case newerFormat(path: String, format: Int)
  /// Another process (or this one, elsewhere) works on the device. The pid is `nil` when the
  /// holder has not written it yet.
  case deviceBusy(device: String, holder: Int32?)
  /// Another process held the list of devices, or the images kept, for longer than the wait's
  /// bound.
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

/// The system calls that can fail, by what they are for.
public enum FileOperation: String, Equatable, Sendable {
  /// open(2), of an existing file or a new one.
  case open
  /// read(2).
  case read
  /// write(2).
  case write
  /// fsync(2), of a file or the directory that it is in.
  case flush
  /// A lock among processes (flock(2), or a name that is bound).
  case lock
  /// rename(2), which puts the new file in the place of the old one at once.
  case replace = "rename"
  /// unlink(2).
  case remove = "unlink"
  /// mkdir(2).
  case makeDirectory = "mkdir"
}

extension StateFault: ExplainedFault {
  public var summary: String { description }

  public var explanation: String {
    switch self {
    case .deviceBusy(_, let holder?): "It is process \(holder)."
    case .deviceBusy(_, nil): "It has not said yet which process it is."
    case .registryBusy: "A process that holds it for so long hangs, or its disk does."
    case .noPlace, .diskFull, .permissionDenied, .notADirectory, .impossiblePlace, .notAFile,
      .tooLarge, .newerFormat, .system:
      "The state directory keeps locks, resume hints and the list of devices; XDG_STATE_HOME "
        + "moves it."
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

  /// What happened: a clause.
  public var description: String {
    switch self {
    case .noPlace: "no place for the state: neither XDG_STATE_HOME nor HOME is an absolute path"
    case .diskFull(let path): "\(path) cannot be written: the disk or the quota is full"
    case .permissionDenied(let path): "\(path): permission denied"
    case .notADirectory(let path): "\(path) is in the way: it is no directory"
    case .impossiblePlace(let path, let errno): "there can be no directory \(path): \(errno)"
    case .notAFile(let path): "\(path) is in the way: it is no regular file"
    case .tooLarge(let path, let limit): "\(path) is larger than \(limit) bytes; it is not ours"
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
