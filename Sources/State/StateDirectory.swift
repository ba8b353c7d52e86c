import Glibc

/// The directory of persistent state (XDG Base Directory Specification 0.8).
public struct StateDirectory: Equatable, Sendable {
  /// `$XDG_STATE_HOME/otaflash`, or `~/.local/state/otaflash`.
  public let path: String

  /// Returns the directory without accessing the disk.
  ///
  /// - Parameter environment: the environment variables; only XDG_STATE_HOME and HOME are used. As
  ///   the specification requires, a path that is not absolute is ignored.
  public static func locate(
    environment: [String: String]
  ) throws(StateFault) -> StateDirectory {
    func absolute(_ variable: String) -> String? {
      environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    if let home = absolute("XDG_STATE_HOME") { return StateDirectory(path: home + "/otaflash") }
    if let home = absolute("HOME") { return StateDirectory(path: home + "/.local/state/otaflash") }
    throw .noPlace
  }

  /// Creates missing directories with mode 0700. Removes the access of other users to the state
  /// directory and its folders if this user owns them. Checks that all of them are writable.
  public func create() throws(StateFault) {
    for directory in [path, journalPath, bondsPath, imagesPath] {
      try Self.makeDirectory(directory)
      try Self.keepPrivate(directory)
      guard access(directory, W_OK | X_OK) == 0 else {
        throw StateFault(.makeDirectory, path: directory, .current)
      }
    }
  }

  /// The path of the list of devices.
  public var registryPath: String { path + "/devices.json" }
  /// The path of the user's aliases for devices.
  package var aliasesPath: String { path + "/aliases.json" }
  /// The folder of the journals of unfinished updates.
  public var journalPath: String { path + "/journal" }
  /// The folder of the keys of pairings.
  public var bondsPath: String { path + "/bonds" }
  /// The folder of images that devices may be running.
  public var imagesPath: String { path + "/images" }

  private static func makeDirectory(_ path: String) throws(StateFault) {
    var made = ""
    for name in path.split(separator: "/") {
      made += "/" + name
      if mkdir(made, 0o700) == 0 { continue }
      let failure = FileErrno.current
      guard isDirectory(made) else {
        throw failure == .exists
          ? .notADirectory(path: made) : StateFault(.makeDirectory, path: made, failure)
      }
    }
  }

  private static func keepPrivate(_ path: String) throws(StateFault) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 != 0 else {
      return
    }
    guard chmod(path, 0o700) == 0 else {
      throw StateFault(.makeDirectory, path: path, .current)
    }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
