import Glibc

/// Small files of /proc.
enum ProcessFile {
  private static let sizeMaximum = 16384

  /// Returns the first 16 KiB of the file; `nil` if the file cannot be read.
  static func read(_ path: String) -> String? {
    let raw = open(path, O_RDONLY | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: raw)
    var bytes = [UInt8](repeating: 0, count: sizeMaximum)
    let count = Glibc.read(descriptor.raw, &bytes, bytes.count)
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Returns whether /proc shows a running process with that name.
  static func isRunning(_ name: String) -> Bool {
    guard let directory = opendir("/proc") else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let number = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard number.allSatisfy(\.isNumber) else { continue }
      if read("/proc/\(number)/comm") == name + "\n" { return true }
    }
    return false
  }
}
