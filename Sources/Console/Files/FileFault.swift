/// The reason why an input file of the command line cannot be read.
package enum FileFault: Error, Equatable {
  case missing(path: String)
  case unreadable(path: String, errno: Int32)
  case isDirectory(path: String)
  /// The file is a pipe or a device that delivered no data within `waited`.
  case silent(path: String, waited: Duration)
  /// The file has more than `limit` bytes.
  case tooLarge(path: String, limit: Int)
  /// The run was stopped while it waited for data.
  case interrupted(path: String)
}
