import OtaflashConsole

package enum KeyFileFault: Error, Equatable {
  case file(FileFault)
  /// The group or everybody may read it; `mode` are the permission bits.
  case exposed(path: String, mode: UInt32)
  case wrongLength(path: String, bytes: Int)
}
