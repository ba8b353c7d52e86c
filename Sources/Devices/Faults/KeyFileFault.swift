import OtaflashConsole

package enum KeyFileFault: Error, Equatable {
  case file(FileFault)
  /// The group or all users may read the file; `mode` contains the permission bits.
  case exposed(path: String, mode: UInt32)
  case wrongLength(path: String, bytes: Int)
}
