/// Files for chips of Espressif that are not an application image.
enum ESPProgram {
  /// The addresses of instructions of the ESP32 family.
  static let instructions: Range<UInt32> = 0x4000_0000..<0x5000_0000
  private static let xtensa: UInt16 = 94
  private static let riscV: UInt16 = 243
  /// The sectors in which a partition table is searched; ESP-IDF's default is 0x8000.
  private static let tableSearch = stride(from: 0x1000, through: 0x2_0000, by: 0x1000)
  private static let partitionSize = 32

  /// Rejects a linked program. On RISC-V, which other manufacturers also use, the program must
  /// contain the description of an application.
  static func checkELF(_ file: [UInt8]) throws(ESPFault) {
    guard file.count >= 52, file[4] == 1, file[5] == 1,
      let machine: UInt16 = file.littleEndian(at: 18),
      let entry: UInt32 = file.littleEndian(at: 24), instructions.contains(entry)
    else { return }
    if machine == xtensa || machine == riscV && hasDescription(file) { throw .program }
  }

  private static func hasDescription(_ file: [UInt8]) -> Bool {
    stride(from: 0, to: file.count - 3, by: 4).contains {
      file[$0] == 0x32 && file.littleEndian(UInt32.self, at: $0) == ESPApplication.magic
    }
  }

  /// Rejects a file of the complete flash, which starts with a bootloader or with the erased space
  /// before it.
  static func checkCompleteFlash(_ bytes: [UInt8]) throws(ESPFault) {
    guard let first = bytes.first,
      first == ESPImage.magic || bytes.prefix(16).allSatisfy({ $0 == 0xFF })
    else { return }
    for offset in tableSearch where isTable(bytes, at: offset) {
      throw .completeFlash(partitionTable: offset)
    }
  }

  /// Checks for an entry of a partition table (the magic, an offset that is a multiple of 4,096,
  /// and a size), followed by a second entry, the checksum of the table, or erased flash.
  private static func isTable(_ bytes: [UInt8], at offset: Int) -> Bool {
    guard isEntry(bytes, at: offset) else { return false }
    let second = offset + partitionSize
    return isEntry(bytes, at: second)
      || bytes.littleEndian(UInt16.self, at: second) == 0xEBEB
      || bytes.littleEndian(UInt16.self, at: second) == 0xFFFF
  }

  private static func isEntry(_ bytes: [UInt8], at offset: Int) -> Bool {
    guard bytes.littleEndian(UInt16.self, at: offset) == 0x50AA,
      let place = bytes.littleEndian(UInt32.self, at: offset + 4),
      let size = bytes.littleEndian(UInt32.self, at: offset + 8)
    else { return false }
    return place >= 0x1000 && place.isMultiple(of: 0x1000) && size > 0
  }
}
