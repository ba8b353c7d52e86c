import OtaflashGATT
import OtaflashWire

/// The error codes of the groups for files, settings and statistics (Zephyr, `fs_mgmt.h`,
/// `settings_mgmt.h`, `stat_mgmt.h`).
extension SMPRefusal {
  private static let path =
    "Check the path: it is absolute, and starts with a mount point such as "
    + "/lfs1."
  private static let name = "Check the name: it has the form ROOT/NAME, such as app/rate."
  private static let full = "Its file system may be full: free space on it."

  static let files: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error of its file system", log),
    2: Entry(.unsuitable, "the path is not valid", path),
    3: Entry(.unsuitable, "there is no such file", path),
    4: Entry(.unsuitable, "the path is a directory", "Specify the path of a file."),
    5: Entry(.rejected, "the file cannot be opened", again, .tryAgain),
    6: Entry(.rejected, "the offset in the file cannot be reached", again, .tryAgain),
    7: Entry(.flashFault, "the file cannot be read", worn, .restartDevice),
    8: Entry(.rejected, "the existing file cannot be emptied", again, .tryAgain),
    9: Entry(.rejected, "the existing file cannot be deleted", again, .tryAgain),
    10: Entry(.rejected, "the file cannot be written", full),
    11: Entry(
      .rejected, "the length of the file has changed",
      "Another host or the application may have written the file: try again.", .tryAgain),
    12: Entry(
      .rejected, "the offset exceeds the length of the file",
      "The application may have shortened the file: try again.", .tryAgain),
    13: Entry(
      .unsuitable, "it does not support the checksum",
      "The firmware must be built with CONFIG_MCUMGR_GRP_FS_CHECKSUM_IEEE_CRC32 or "
        + "CONFIG_MCUMGR_GRP_FS_HASH_SHA256."),
    14: Entry(.unsuitable, "no file system is mounted at this path", path),
    15: Entry(
      .unsuitable, "the file system is read-only", "Choose the path of another file system."),
    16: Entry(.unsuitable, "the file is empty", "An empty file has no checksum."),
    17: Entry(.rejected, "the file cannot be closed", full),
  ]

  static let settings: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error of its settings", log),
    2: Entry(
      .unsuitable, "the name is too long",
      "The limit is CONFIG_MCUMGR_GRP_SETTINGS_NAME_LEN of the firmware, 32 by default."),
    3: Entry(.unsuitable, "there is no such setting", name),
    4: Entry(
      .unsuitable, "the setting cannot be read",
      "The firmware's handler of the setting needs a function h_get."),
    5: Entry(.unsuitable, "there are no settings with this root", name),
    6: Entry(
      .unsuitable, "the setting cannot be written",
      "The firmware's handler of the setting needs a function h_set."),
    7: Entry(
      .unsuitable, "the setting cannot be deleted",
      "The firmware's storage of settings needs a function to delete values."),
  ]

  static let statistics: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error of its statistics", log),
    2: Entry(
      .unsuitable, "there is no such group of statistics",
      "Without a name, the command lists the groups."),
    3: Entry(
      .unsuitable, "there is no such counter", "Without a name, the command lists the groups."),
    4: Entry(.rejected, "a counter has an unsupported size", log),
    5: Entry(.rejected, "the counters could not be read completely", again, .tryAgain),
  ]

  /// MGMT_ERR_EINVAL, MGMT_ERR_ENOENT, and codes of the file group.
  private static let invalid: Int32 = 3
  private static let noSuchEntry: Int32 = 5
  private static let noSuchFile: Int32 = 3
  private static let offsetNotValid: Int32 = 11
  private static let noSuchChecksum: Int32 = 13
  private static let fileEmpty: Int32 = 16

  /// Whether the code is common to all groups, so that it is less precise than a group's code.
  var isGeneral: Bool { if case .general = code { true } else { false } }

  /// Whether the server found a value of the request not valid.
  var isInvalid: Bool { code == .general(Self.invalid) }

  /// Whether a file does not exist. A server of version 1 has one code for a missing file and a
  /// missing mount point.
  var isNoSuchFile: Bool {
    [.general(Self.noSuchEntry), .group(.files, Self.noSuchFile)].contains(code)
  }

  /// Whether the server does not write a part of a file because the part does not start at the end
  /// of the file. The servers of version 1 report `EUNKNOWN`, and mcumgr of 2021 `EINVAL`.
  var isOffsetNotValid: Bool {
    [.general(Self.unknown), .general(Self.invalid), .group(.files, Self.offsetNotValid)]
      .contains(code)
  }

  /// Whether the server has no checksum for the file.
  var isNoChecksum: Bool {
    [
      .general(Self.notSupported), .general(Self.invalid), .group(.files, Self.noSuchChecksum),
      .group(.files, Self.fileEmpty),
    ].contains(code)
  }
}
