import OtaflashFirmware

/// Writes ZIP archives of stored files. The fields of a file can have wrong values.
struct StoredZip {
  struct File {
    var name: [UInt8]
    var content: [UInt8]
    var flags: UInt16 = 0
    var method: UInt16 = 0
    var crc32: UInt32
    var size: UInt32
    /// The name in the directory, if it differs from the name in the file's header.
    var directoryName: [UInt8]?

    init(_ name: String, _ content: [UInt8]) {
      self.name = Array(name.utf8)
      self.content = content
      crc32 = CRC32.checksum(content)
      size = UInt32(content.count)
    }
  }

  var files: [File]

  init(_ files: [(String, [UInt8])]) { self.files = files.map { File($0.0, $0.1) } }
  init(_ files: [File]) { self.files = files }

  var bytes: [UInt8] {
    var local: [UInt8] = []
    var directory: [UInt8] = []
    for file in files {
      let offset = UInt32(local.count)
      local +=
        [0x50, 0x4B, 3, 4] + littleEndian(UInt16(20)) + Self.common(file, file.name) + file.name
      local += file.content
      let name = file.directoryName ?? file.name
      directory += [0x50, 0x4B, 1, 2] + littleEndian(UInt16(20)) + littleEndian(UInt16(20))
      directory += Self.common(file, name) + littleEndian(UInt16(0)) + littleEndian(UInt16(0))
      directory += littleEndian(UInt16(0)) + littleEndian(UInt32(0)) + littleEndian(offset) + name
    }
    let count = UInt16(files.count)
    return local + directory + [0x50, 0x4B, 5, 6] + [0, 0, 0, 0] + littleEndian(count)
      + littleEndian(count)
      + littleEndian(UInt32(directory.count)) + littleEndian(UInt32(local.count))
      + littleEndian(UInt16(0))
  }

  /// Returns the fields of both headers, from the flags to the length of the extra field.
  private static func common(_ file: File, _ name: [UInt8]) -> [UInt8] {
    littleEndian(file.flags) + littleEndian(file.method) + littleEndian(UInt16(0))
      + littleEndian(UInt16(0x21))
      + littleEndian(file.crc32) + littleEndian(UInt32(file.content.count))
      + littleEndian(file.size)
      + littleEndian(UInt16(name.count)) + littleEndian(UInt16(0))
  }
}
