import Glibc

/// The files in a folder that was specified on the command line.
package enum FolderContent {
  /// Returns the sorted names of the files and links, without names that start with a period; `nil`
  /// if the path is not a readable folder.
  ///
  /// - Parameter limit: the maximum number of files.
  package static func files(of path: String, atMost limit: Int) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < limit, let entry = readdir(directory) {
      let isFile = entry.pointee.d_type == DT_REG || entry.pointee.d_type == DT_LNK
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if isFile, !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
