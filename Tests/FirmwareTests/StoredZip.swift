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
      local +=
        [0x50, 0x4B, 3, 4] + FirmwareTests.bytes(UInt16(20)) + Self.common(file, file.name)
        + file.name
      local += file.content
      let name = file.directoryName ?? file.name
      directory +=
        [0x50, 0x4B, 1, 2] + FirmwareTests.bytes(UInt16(20)) + FirmwareTests.bytes(UInt16(20))
      directory +=
        Self.common(file, name) + FirmwareTests.bytes(UInt16(0)) + FirmwareTests.bytes(UInt16(0))
      directory +=
        FirmwareTests.bytes(UInt16(0)) + FirmwareTests.bytes(UInt32(0))
        + FirmwareTests.bytes(offset) + name
    }
    let count = UInt16(files.count)
    return local + directory + [0x50, 0x4B, 5, 6] + [0, 0, 0, 0] + FirmwareTests.bytes(count)
      + FirmwareTests.bytes(count)
      + FirmwareTests.bytes(UInt32(directory.count)) + FirmwareTests.bytes(UInt32(local.count))
      + FirmwareTests.bytes(UInt16(0))
  }

  /// The fields that both headers have, from the flags to the length of the extra field.
  private static func common(_ file: File, _ name: [UInt8]) -> [UInt8] {
    FirmwareTests.bytes(file.flags) + FirmwareTests.bytes(file.method)
      + FirmwareTests.bytes(UInt16(0)) + FirmwareTests.bytes(UInt16(0x21))
      + FirmwareTests.bytes(file.crc32) + FirmwareTests.bytes(UInt32(file.content.count))
      + FirmwareTests.bytes(file.size)
      + FirmwareTests.bytes(UInt16(name.count)) + FirmwareTests.bytes(UInt16(0))
  }
}
