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
      local += [0x50, 0x4B, 3, 4] + octets(UInt16(20)) + Self.common(file, file.name) + file.name
      local += file.content
      let name = file.directoryName ?? file.name
      directory += [0x50, 0x4B, 1, 2] + octets(UInt16(20)) + octets(UInt16(20))
      directory += Self.common(file, name) + octets(UInt16(0)) + octets(UInt16(0))
      directory += octets(UInt16(0)) + octets(UInt32(0)) + octets(offset) + name
    }
    let count = UInt16(files.count)
    return local + directory + [0x50, 0x4B, 5, 6] + [0, 0, 0, 0] + octets(count) + octets(count)
      + octets(UInt32(directory.count)) + octets(UInt32(local.count)) + octets(UInt16(0))
  }

  /// The fields that both headers have, from the flags to the length of the extra field.
  private static func common(_ file: File, _ name: [UInt8]) -> [UInt8] {
    octets(file.flags) + octets(file.method) + octets(UInt16(0)) + octets(UInt16(0x21))
      + octets(file.crc32) + octets(UInt32(file.content.count)) + octets(file.size)
      + octets(UInt16(name.count)) + octets(UInt16(0))
  }
}
