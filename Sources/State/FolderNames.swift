import Glibc

/// The names in one folder of the state directory.
enum FolderNames {
  /// Returns the names that end in `suffix`, sorted; an empty list if the folder does not exist.
  ///
  /// - Parameter limit: the maximum number of names.
  static func read(
    _ folder: String, suffix: String = "", atMost limit: Int
  ) throws(StateFault) -> [String] {
    guard let directory = opendir(folder) else {
      let errno = FileErrno.current
      if errno == .noEntry { return [] }
      throw StateFault(.read, path: folder, errno)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < limit, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasSuffix(suffix) { names.append(name) }
    }
    return names.sorted()
  }
}
