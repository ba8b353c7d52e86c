import OtaflashFirmware

/// Writes ZIP archives of stored files, with every field open to be made wrong.
struct StoredZip {
  struct File {
    var name: [UInt8]
    var content: [UInt8]
    var flags: UInt16 = 0
    var method: UInt16 = 0
    var crc32: UInt32
    var size: UInt32
    /// Where the directory has another name than the file's own header.
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
      local += [0x50, 0x4B, 3, 4] + bytes(UInt16(20)) + Self.common(file, file.name) + file.name
      local += file.content
      let name = file.directoryName ?? file.name
      directory += [0x50, 0x4B, 1, 2] + bytes(UInt16(20)) + bytes(UInt16(20))
      directory += Self.common(file, name) + bytes(UInt16(0)) + bytes(UInt16(0))
      directory += bytes(UInt16(0)) + bytes(UInt32(0)) + bytes(offset) + name
    }
    let count = UInt16(files.count)
    return local + directory + [0x50, 0x4B, 5, 6] + [0, 0, 0, 0] + bytes(count) + bytes(count)
      + bytes(UInt32(directory.count)) + bytes(UInt32(local.count)) + bytes(UInt16(0))
  }

  /// The fields that both headers have, from the flags to the length of the extra field.
  private static func common(_ file: File, _ name: [UInt8]) -> [UInt8] {
    bytes(file.flags) + bytes(file.method) + bytes(UInt16(0)) + bytes(UInt16(0x21))
      + bytes(file.crc32) + bytes(UInt32(file.content.count)) + bytes(file.size)
      + bytes(UInt16(name.count)) + bytes(UInt16(0))
  }
}
