/// An input file of the command line that cannot be read.
package enum FileFault: Error, Equatable {
  case missing(path: String)
  case unreadable(path: String, errno: Int32)
  case isDirectory(path: String)
  /// A pipe or a device without data.
  case silent(path: String, waited: Duration)
  /// The run was stopped while it waited for data.
  case interrupted(path: String)
}
