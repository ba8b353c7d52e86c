/// The header of one file: in the central directory at the end of the archive (PKWARE, APPNOTE
/// 6.3.10, 4.3.12), or before the file's data (4.3.7). Both have the same fields in the same order.
struct ZipHeader {
  enum Place {
    case directory
    case local

    fileprivate var magic: UInt32 { self == .directory ? 0x0201_4B50 : 0x0403_4B50 }
    /// The number of bytes before the name.
    fileprivate var fixedSize: Int { self == .directory ? 46 : 30 }
    /// The number of bytes before the flags. Starting with the flags, both kinds have the same
    /// fields.
    fileprivate var flagsOffset: Int { self == .directory ? 8 : 6 }
  }

  struct Flags: OptionSet {
    let rawValue: UInt16

    static let encrypted = Flags(rawValue: 1 << 0)
    /// The CRC32 and the sizes follow the data, and are 0 in the local header.
    static let descriptor = Flags(rawValue: 1 << 3)
    static let patch = Flags(rawValue: 1 << 5)
    static let stronglyEncrypted = Flags(rawValue: 1 << 6)
    static let utf8 = Flags(rawValue: 1 << 11)
    static let masked = Flags(rawValue: 1 << 13)

    /// The flags that must agree in both headers; the other bits describe the compression level.
    static let decisive: Flags = [
      .encrypted, .descriptor, .patch, .stronglyEncrypted, .utf8, .masked,
    ]
  }

  /// The value of a field whose number is stored in a ZIP64 record.
  private static let elsewhere = UInt32.max
  private static let zip64Field: UInt16 = 0x0001
  private static let unicodePathField: UInt16 = 0x7075

  /// The version of the format that a reader must support, times ten.
  let version: Int
  let flags: Flags
  let method: UInt16
  let crc32: UInt32
  let compressedSize: Int
  let size: Int
  let name: [UInt8]
  /// The offset of the local header; 0 in a local header itself.
  let localOffset: Int
  /// The offset of the first byte after the header.
  let end: Int

  /// Decodes the header at an offset; the header must end at or before `limit`.
  init(_ place: Place, of file: [UInt8], at offset: Int, before limit: Int) throws(ZipFault) {
    guard offset >= 0, offset <= limit - place.fixedSize,
      file.littleEndian(UInt32.self, at: offset) == place.magic
    else { throw .damaged("no file header at offset \(offset)") }
    func half(_ index: Int) -> UInt16 { file.littleEndian(at: offset + index) ?? 0 }
    func word(_ index: Int) -> UInt32 { file.littleEndian(at: offset + index) ?? 0 }
    let first = place.flagsOffset
    // The byte after the version is the operating system.
    version = Int(file[offset + first - 2])
    flags = Flags(rawValue: half(first))
    method = half(first + 2)
    crc32 = word(first + 8)
    let sizes = (word(first + 12), word(first + 16))
    (compressedSize, size) = (Int(sizes.0), Int(sizes.1))
    let nameEnd = offset + place.fixedSize + Int(half(first + 20))
    let extraEnd = nameEnd + Int(half(first + 22))
    let isInDirectory = place == .directory
    localOffset = isInDirectory ? Int(word(42)) : 0
    end = extraEnd + (isInDirectory ? Int(half(32)) : 0)
    guard end <= limit else { throw .damaged("the header at offset \(offset) is truncated") }
    name = Array(file[(offset + place.fixedSize)..<nameEnd])
    if isInDirectory {
      guard half(34) == 0 else { throw .severalDisks }
      guard word(42) != Self.elsewhere else { throw .zip64 }
    }
    guard sizes.0 != Self.elsewhere, sizes.1 != Self.elsewhere else { throw .zip64 }
    try checkExtra(file[nameEnd..<extraEnd])
  }

  /// Checks the extra fields, which can repeat the sizes and the name for readers that support
  /// these fields.
  private func checkExtra(_ extra: ArraySlice<UInt8>) throws(ZipFault) {
    var offset = extra.startIndex
    while let id: UInt16 = extra.littleEndian(at: offset),
      let size: UInt16 = extra.littleEndian(at: offset + 2)
    {
      let start = offset + 4
      guard Int(size) <= extra.endIndex - start else {
        throw .damaged("an extra field at offset \(offset) is truncated")
      }
      let value = extra[start..<(start + Int(size))]
      if id == Self.zip64Field { throw .zip64 }
      // In this field, a version and the CRC32 of the header's name precede the name.
      if id == Self.unicodePathField, Array(value.dropFirst(5)) != name {
        throw .unsafeName(String(decoding: name, as: UTF8.self))
      }
      offset = start + Int(size)
    }
  }

  var isEncrypted: Bool { !flags.isDisjoint(with: [.encrypted, .stronglyEncrypted, .masked]) }

  /// Returns whether a local header agrees with its entry in the directory.
  func agrees(with directory: ZipHeader) -> Bool {
    guard flags.intersection(.decisive) == directory.flags.intersection(.decisive),
      method == directory.method, name == directory.name
    else { return false }
    let here = [Int(crc32), compressedSize, size]
    let there = [Int(directory.crc32), directory.compressedSize, directory.size]
    return here == there || flags.contains(.descriptor) && here == [0, 0, 0]
  }
}
