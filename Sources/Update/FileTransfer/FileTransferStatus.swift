import OtaflashGATT

/// The status of an answer. InfiniTime reports errors of LittleFS as negative numbers (InfiniTime,
/// `doc/BLEFS.md`, "Deviations"; LittleFS, `lfs.h`); Adafruit's devices report 2 to 5.
package struct FileTransferStatus: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int8

  package init(rawValue: Int8) { self.rawValue = rawValue }

  package static let success = FileTransferStatus(rawValue: 1)
  /// The file or a directory of its path does not exist.
  package static let noEntry = FileTransferStatus(rawValue: -2)
  package static let exists = FileTransferStatus(rawValue: -17)
  package static let noSpace = FileTransferStatus(rawValue: -28)
  /// No file, on Adafruit's devices.
  static let noFile = FileTransferStatus(rawValue: 3)

  /// The meanings of the known errors, as clauses.
  private static let meanings: [Int8: String] = [
    -84: "its file system is damaged", -5: "its flash cannot be read or written",
    -2: "the file or its directory does not exist", -17: "the path exists already",
    -20: "a part of the path is a file, not a directory", -21: "the path is a directory",
    -39: "the directory is not empty", -9: "the file is not open", -27: "the file is too large",
    -22: "it does not accept the request", -28: "its file system is full",
    -12: "it has too little memory", -61: "an attribute of the file is missing",
    -36: "the name is too long", 2: "the operation failed", 3: "the file does not exist",
    4: "it does not accept the request", 5: "its file system is read-only",
  ]

  /// Whether the file does not exist.
  var isNoFile: Bool { self == .noEntry || self == .noFile }

  /// Whether this is an error that a device reports. InfiniTime does not set the status of some
  /// answers, so that they contain any value.
  var isKnownError: Bool { Self.meanings[rawValue] != nil }

  /// Returns the refusal of a request for `path` as a message.
  func inWords(of path: String) -> ProtocolRefusal {
    let isFull = self == .noSpace
    let meaning = Self.meanings[rawValue] ?? "the operation failed"
    return ProtocolRefusal(
      code: "\(path), status \(rawValue)", meaning: meaning,
      advice: isFull
        ? "Delete files that the device does not need, and try again."
        : "Restart the device, and try again.",
      kind: isFull ? .doesNotFit : .rejected, remedy: isFull ? nil : .tryAgain)
  }
}

extension ProtocolRefusal {
  /// The meaning of ATT error 0x08 from a watch whose user does not permit access to its files
  /// (InfiniTime, `FSService.cpp` and `SettingOTA.cpp`).
  static let filesNotPermitted = ProtocolRefusal(
    code: "ATT 0x08", meaning: "its settings do not permit access to its files",
    advice: "On the watch, open Settings, then Over-the-air, and choose Enabled. The choice "
      + "'Till reboot' ends when the watch restarts, also when an update restarts it. Then run the "
      + "same command again.", kind: .forbidden, remedy: .tryAgain)

  static let noFileService = ProtocolRefusal(
    meaning: "it has no file transfer service",
    advice: "InfiniTime has this service since version 1.8, and external resources since version "
      + "1.11. Update the firmware first.", kind: .unsuitable)

  static func fileServiceVersion(_ version: UInt16) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "version \(version)", meaning: "its file transfer service cannot move files",
      advice: "Version 4 of the service is required. Update the firmware first.",
      kind: .versionNotSupported)
  }

  static func requestTooLong(_ size: Int, limit: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "ATT_MTU \(limit + 3)",
      meaning: "it accepts requests of \(limit) bytes, but a request has \(size) bytes",
      advice: "Request a larger ATT_MTU, or choose shorter paths.", kind: .unsuitable)
  }

  static func noSpace(free: Int, needed: Int, path: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: path,
      meaning: "its file system has \(free) B for a file that needs \(needed) B more",
      advice: "Delete files that the device does not need, and try again.", kind: .doesNotFit)
  }

  static func fileDiffers(_ path: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: path, meaning: "the file that was read back differs from the sent file",
      advice: "Another host may be writing the same file: try again. If the error persists, the "
        + "device's flash is worn.", kind: .rejected, remedy: .tryAgain)
  }
}
