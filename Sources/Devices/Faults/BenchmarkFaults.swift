import OtaflashConsole

/// The reason why an earlier benchmark cannot serve as a baseline.
package enum BaselineFault: Error, Equatable {
  case file(FileFault)
  /// The file was not written by `otaflash bench --json`.
  case malformed(path: String)
  /// The file has no measurement in common with this run.
  case nothingInCommon(path: String)
}
