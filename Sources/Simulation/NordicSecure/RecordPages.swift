import OtaflashFirmware

/// A firmware's record in flash, in two pages. The page with the higher sequence number is valid,
/// so a write that a power loss interrupts leaves the previous record.
struct RecordPages: Sendable {
  private static let magic: UInt32 = 0x3143_4552
  /// The size of the header: magic, sequence number, length. The CRC32 of header and content
  /// follows the content.
  private static let headerBytes = 12
  private static let checksumBytes = 4

  let flash: SimulatedFlash
  /// The addresses of the two pages.
  let pages: [Int]

  /// Returns the newest complete record; `nil` if no page contains a complete record.
  func newest() throws(FlashFault) -> (sequence: UInt32, content: [UInt8])? {
    var newest: (sequence: UInt32, content: [UInt8])?
    for page in pages {
      guard let record = try record(at: page) else { continue }
      if record.sequence > newest?.sequence ?? 0 { newest = record }
    }
    return newest
  }

  /// Returns the flash operations that store `content` and keep the previous record.
  ///
  /// - Parameter sequence: the sequence number of the previous record + 1.
  func operations(storing content: [UInt8], sequence: UInt32) -> [FlashOperation] {
    let body =
      Self.magic.littleEndianBytes + sequence.littleEndianBytes
      + UInt32(content.count).littleEndianBytes + content
    let padding = (4 - body.count % 4) % 4
    let record =
      body + CRC32.checksum(body).littleEndianBytes + [UInt8](repeating: 0xFF, count: padding)
    precondition(record.count <= flash.geometry.pageSize, "a record fits into a page")
    let page = pages[Int(sequence % 2)]
    return [.erase(page: page), .write(record, at: page)]
  }

  private func record(
    at page: Int
  ) throws(FlashFault) -> (sequence: UInt32, content: [UInt8])? {
    let bytes = try flash.read(page..<page + flash.geometry.pageSize)
    let size = Int(bytes.littleEndianWord(at: 8))
    let end = Self.headerBytes + size
    guard bytes.littleEndianWord(at: 0) == Self.magic, end + Self.checksumBytes <= bytes.count,
      CRC32.checksum(bytes[..<end]) == bytes.littleEndianWord(at: end)
    else { return nil }
    return (bytes.littleEndianWord(at: 4), Array(bytes[Self.headerBytes..<end]))
  }
}
