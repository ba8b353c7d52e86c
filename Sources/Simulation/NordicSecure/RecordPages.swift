import OtaflashFirmware

/// What a firmware remembers in flash: two pages, of which the one with the higher sequence number
/// counts, so that a write that is torn leaves the record before it.
struct RecordPages: Sendable {
  private static let magic: UInt32 = 0x3143_4552
  /// Magic, sequence, length; the CRC32 of all of it follows the content.
  private static let headerOctets = 12
  private static let checksumOctets = 4

  let flash: SimulatedFlash
  /// The addresses of the two pages.
  let pages: [Int]

  /// The newest whole record.
  func newest() throws(FlashFault) -> (sequence: UInt32, content: [UInt8])? {
    var newest: (sequence: UInt32, content: [UInt8])?
    for page in pages {
      guard let record = try record(at: page) else { continue }
      if record.sequence > newest?.sequence ?? 0 { newest = record }
    }
    return newest
  }

  /// What flash has to do to hold `content` beside the record before it.
  ///
  /// - Parameter sequence: one more than that record's.
  func operations(storing content: [UInt8], sequence: UInt32) -> [FlashOperation] {
    let body =
      Self.magic.littleEndianOctets + sequence.littleEndianOctets
      + UInt32(content.count).littleEndianOctets + content
    let padding = (4 - body.count % 4) % 4
    let record =
      body + CRC32.checksum(body).littleEndianOctets + [UInt8](repeating: 0xFF, count: padding)
    precondition(record.count <= flash.geometry.pageSize, "a record fits into a page")
    let page = pages[Int(sequence % 2)]
    return [.erase(page: page), .write(record, at: page)]
  }

  private func record(
    at page: Int
  ) throws(FlashFault) -> (sequence: UInt32, content: [UInt8])? {
    let bytes = try flash.read(page..<page + flash.geometry.pageSize)
    let size = Int(bytes.littleEndianWord(at: 8))
    let end = Self.headerOctets + size
    guard bytes.littleEndianWord(at: 0) == Self.magic, end + Self.checksumOctets <= bytes.count,
      CRC32.checksum(bytes[..<end]) == bytes.littleEndianWord(at: end)
    else { return nil }
    return (bytes.littleEndianWord(at: 4), Array(bytes[Self.headerOctets..<end]))
  }
}
