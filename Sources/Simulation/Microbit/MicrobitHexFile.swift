import OtaflashFirmware

/// Writes HEX files for the micro:bit.
enum MicrobitHexFile {
  private static let dataSize = 32
  private static let blockStart: UInt8 = 0x0A
  private static let blockEnd: UInt8 = 0x0B
  private static let customData: UInt8 = 0x0D
  private static let linearAddress: UInt8 = 0x04

  /// Returns a HEX file for one board.
  static func plain(_ application: [UInt8], for board: MicrobitBoard) -> [UInt8] {
    text(records(application, for: board, type: 0) + [record(0x01, at: 0, [])])
  }

  /// Returns a Universal Hex with a section for each board.
  static func universal(_ applications: KeyValuePairs<MicrobitBoard, [UInt8]>) -> [UInt8] {
    let sections = applications.flatMap { board, application in
      [
        record(linearAddress, at: 0, [0, 0]),
        record(blockStart, at: 0, [0x99, board == .v1 ? 0x00 : 0x03, 0xC0, 0xDE]),
      ] + records(application, for: board, type: board == .v1 ? 0 : customData)
        + [record(blockEnd, at: 0, [])]
    }
    return text(sections + [record(0x01, at: 0, [])])
  }

  private static func records(
    _ bytes: [UInt8], for board: MicrobitBoard, type: UInt8
  ) -> [String] {
    var lines: [String] = []
    var upper = -1
    for offset in stride(from: 0, to: bytes.count, by: dataSize) {
      let part = bytes[offset...].prefix(dataSize)
      let address = board.applicationArea.lowerBound + offset
      if address >> 16 != upper {
        upper = address >> 16
        lines.append(record(linearAddress, at: 0, [UInt8(upper >> 8), UInt8(upper & 0xFF)]))
      }
      // Linkers do not write gaps.
      if part.contains(where: { $0 != 0xFF }) {
        lines.append(record(type, at: address & 0xFFFF, Array(part)))
      }
    }
    return lines
  }

  private static func record(_ type: UInt8, at offset: Int, _ payload: [UInt8]) -> String {
    let bytes = [UInt8(payload.count), UInt8(offset >> 8), UInt8(offset & 0xFF), type] + payload
    let checksum = 0 &- bytes.reduce(0, &+)
    return ":" + (bytes + [checksum]).map(hexadecimal).joined()
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "0" + digits : digits
  }

  private static func text(_ lines: [String]) -> [UInt8] {
    Array((lines.joined(separator: "\n") + "\n").utf8)
  }
}
