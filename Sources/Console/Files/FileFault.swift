/// A file that the command line names and that cannot be read.
package enum FileFault: Error, Equatable {
  case missing(path: String)
  case unreadable(path: String, errno: Int32)
  case isDirectory(path: String)
  /// It is a pipe or a device, and nothing came out of it.
  case silent(path: String, waited: Duration)
  /// The run was stopped while it waited for that.
  case interrupted(path: String)
}
