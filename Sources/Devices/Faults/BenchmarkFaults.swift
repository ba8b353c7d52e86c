import OtaflashConsole

/// Why an earlier benchmark cannot be compared with.
package enum BaselineFault: Error, Equatable {
  case file(FileFault)
  /// No `otaflash bench --json` wrote it.
  case malformed(path: String)
  /// It measured other settings.
  case nothingInCommon(path: String)
}
