import Glibc

/// The files of a folder that the command line names.
package enum FolderContent {
  /// In order, without those that begin with a full stop; `nil` for what is no folder, or
  /// none that can be looked into.
  ///
  /// - Parameter limit: how many are taken, of what may be many.
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
