/// The files in a ZIP archive (PKWARE, APPNOTE 6.3.10), decompressed in memory. Entries must be
/// stored or deflated; split and encrypted archives are rejected. Nothing is written to disk, and
/// the limits apply regardless of the sizes that the archive states. Duplicate fields must agree,
/// so that all readers find the same files.
package struct ZipArchive: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    /// The name in the archive: a path of plain names.
    package let name: String
    package let bytes: [UInt8]
  }

  /// The maximum number of files; no firmware package has more.
  package static let entryMaximum = 64
  /// The maximum compression ratio: Deflate yields at most 1032 bytes from one byte (zlib,
  /// technical details).
  static let ratioMaximum = 1032
  private static let localMagic: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
  private static let descriptorMagic: UInt32 = 0x0807_4B50
  /// Version 6.3 of the format. Its ZIP64, encryption and compression features are rejected
  /// separately.
  private static let versionMaximum = 63
  private static let stored: UInt16 = 0
  private static let deflated: UInt16 = 8

  /// The files in the order of the archive, without folders.
  package let entries: [Entry]

  /// Returns whether a file that starts with these bytes is an archive.
  static func begins(_ bytes: [UInt8]) -> Bool { bytes.starts(with: localMagic) }

  package subscript(name: String) -> [UInt8]? { entries.first { $0.name == name }?.bytes }

  /// Decompresses a complete archive.
  /// - Parameters:
  ///   - bytes: the complete archive.
  ///   - limit: the maximum size of all entries together, in bytes.
  package init(decoding bytes: [UInt8], limit: Int) throws(ZipFault) {
    guard Self.begins(bytes) else { throw .notAnArchive }
    let directory = try ZipDirectory(of: bytes, entryMaximum: Self.entryMaximum)
    var entries: [Entry] = []
    var names: Set<String> = []
    var places: [(range: Range<Int>, name: String)] = []
    var left = limit
    for header in directory.headers {
      let name = try Self.name(of: header)
      guard names.insert(name).inserted else { throw .nameRepeated }
      try Self.check(header, name: name, left: left, limit: limit)
      let data = try Self.data(of: header, name: name, in: bytes, before: directory.start)
      places.append((header.localOffset..<data.end, name))
      left -= header.size
      if name.hasSuffix("/") { continue }
      entries.append(
        Entry(name: name, bytes: try Self.unpack(bytes[data.range], header, name: name)))
    }
    try Self.requireApart(places)
    self.entries = entries
  }

  /// Returns the name in a header of the directory, which must be a plain path.
  private static func name(of header: ZipHeader) throws(ZipFault) -> String {
    guard let name = String(validating: header.name, as: UTF8.self), isPlain(name) else {
      throw .unsafeName(String(decoding: header.name, as: UTF8.self))
    }
    return name
  }

  private static func check(
    _ header: ZipHeader, name: String, left: Int, limit: Int
  ) throws(ZipFault) {
    guard !header.isEncrypted else { throw .encrypted(name: name) }
    guard header.version <= versionMaximum else {
      throw .laterVersion(name: name, version: header.version)
    }
    guard [stored, deflated].contains(header.method), !header.flags.contains(.patch) else {
      throw .unknownCompression(name: name, method: header.method)
    }
    guard header.size <= left else { throw .tooLarge(name: name, limit: limit) }
    // The product cannot overflow, because a size has 32 bits.
    guard header.size <= header.compressedSize * ratioMaximum else {
      throw .impossibleRatio(
        name: name, size: header.size, compressedSize: header.compressedSize)
    }
    if name.hasSuffix("/"), header.size > 0 {
      throw .entryDamaged(name: name, "a folder cannot contain bytes")
    }
  }

  /// Returns the range of a file's data, and the end of the data with its data descriptor, if any.
  private static func data(
    of header: ZipHeader, name: String, in file: [UInt8], before limit: Int
  ) throws(ZipFault) -> (range: Range<Int>, end: Int) {
    let local = try ZipHeader(.local, of: file, at: header.localOffset, before: limit)
    guard local.agrees(with: header) else {
      throw .damaged("its directory and the header at offset \(header.localOffset) differ")
    }
    let end = local.end + header.compressedSize
    guard end <= limit else {
      throw .entryDamaged(name: name, "it overlaps the directory")
    }
    guard header.flags.contains(.descriptor) else { return (local.end..<end, end) }
    for start in [end + 4, end] where start + 12 <= limit {
      if start > end, file.littleEndian(UInt32.self, at: end) != descriptorMagic { continue }
      let words = (0..<3).map { file.littleEndian(UInt32.self, at: start + 4 * $0) ?? 0 }
      if words[0] == header.crc32, Int(words[1]) == header.compressedSize,
        Int(words[2]) == header.size
      {
        return (local.end..<end, start + 12)
      }
    }
    throw .entryDamaged(name: name, "the descriptor after its data differs from the directory")
  }

  private static func unpack(
    _ data: ArraySlice<UInt8>, _ header: ZipHeader, name: String
  ) throws(ZipFault) -> [UInt8] {
    let bytes =
      header.method == stored ? Array(data) : Inflate.bytes(of: data, count: header.size)
    guard let bytes, bytes.count == header.size else {
      throw .entryDamaged(name: name, "it does not unpack to the stated \(header.size) bytes")
    }
    let computed = CRC32.checksum(bytes)
    guard computed == header.crc32 else {
      throw .entryDamaged(
        name: name, "its CRC32 is \(computed.hexadecimal), not \(header.crc32.hexadecimal)")
    }
    return bytes
  }

  /// Checks that no byte belongs to two files.
  private static func requireApart(
    _ places: [(range: Range<Int>, name: String)]
  ) throws(ZipFault) {
    let ordered = places.sorted { $0.range.lowerBound < $1.range.lowerBound }
    for (place, next) in zip(ordered, ordered.dropFirst())
    where place.range.upperBound > next.range.lowerBound {
      throw .overlap(place.name, next.name)
    }
  }

  /// Returns whether a name is a plain path. Names are used only as keys, and never as paths. A
  /// name that would be an unsafe path is still rejected, because no regular tool writes such a
  /// name.
  private static func isPlain(_ name: String) -> Bool {
    let path = name.hasSuffix("/") ? name.dropLast() : name[...]
    let hasControl = path.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    guard !hasControl, !path.contains("\\"), !path.contains(":") else { return false }
    return path.split(separator: "/", omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }
}
