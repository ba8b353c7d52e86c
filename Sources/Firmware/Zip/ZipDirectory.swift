/// The central directory at the end of an archive (APPNOTE 6.3.10, 4.3.12 and 4.3.16).
struct ZipDirectory {
  private static let endMagic: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
  private static let zip64LocatorMagic: UInt32 = 0x0706_4B50
  private static let zip64LocatorSize = 20
  /// The size in bytes of the end record, without its comment.
  private static let endSize = 22
  private static let commentMaximum = Int(UInt16.max)

  /// The headers in the order of the archive.
  let headers: [ZipHeader]
  /// The start of the directory, at which the files end.
  let start: Int

  /// - Throws: `cutOff`, `zip64`, `severalDisks`, `tooManyEntries`, or `damaged` if the archive is
  ///   inconsistent.
  init(of file: [UInt8], entryMaximum: Int) throws(ZipFault) {
    guard let end = Self.end(of: file) else { throw .cutOff }
    func half(_ index: Int) -> Int { Int(file.littleEndian(UInt16.self, at: end + index) ?? 0) }
    func word(_ index: Int) -> Int { Int(file.littleEndian(UInt32.self, at: end + index) ?? 0) }
    guard end + Self.endSize + half(20) == file.count else {
      throw .damaged("\(file.count - end - Self.endSize) bytes follow its end, not \(half(20))")
    }
    let (count, size) = (half(10), word(12))
    start = word(16)
    let locator = end - Self.zip64LocatorSize
    guard file.littleEndian(UInt32.self, at: max(locator, 0)) != Self.zip64LocatorMagic,
      half(10) != Int(UInt16.max), size != Int(UInt32.max), start != Int(UInt32.max)
    else { throw .zip64 }
    guard half(4) == 0, half(6) == 0, half(8) == count else { throw .severalDisks }
    guard count <= entryMaximum else { throw .tooManyEntries(limit: entryMaximum) }
    guard start + size == end else {
      throw .damaged("its directory does not end at the end record")
    }
    var headers: [ZipHeader] = []
    var offset = start
    for _ in 0..<count {
      let header = try ZipHeader(.directory, of: file, at: offset, before: end)
      headers.append(header)
      offset = header.end
    }
    guard offset == end else {
      throw .damaged("its directory continues after its \(count) entries")
    }
    self.headers = headers
  }

  /// Returns the offset of the end record, searched from the end of the archive; `nil` if no record
  /// is found. All data after the record must be its comment.
  private static func end(of file: [UInt8]) -> Int? {
    guard file.count >= endSize else { return nil }
    let last = file.count - endSize
    let first = max(0, last - commentMaximum)
    return stride(from: last, through: first, by: -1).first { offset in
      file[offset] == endMagic[0] && file[offset..<(offset + 4)].elementsEqual(endMagic)
    }
  }
}
