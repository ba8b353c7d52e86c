import COtaflashZip

/// The files in a ZIP archive (PKWARE, APPNOTE 6.3), unpacked in memory. Nothing is written to a
/// disk, and no more is unpacked than the limits allow, whatever the archive says of itself.
public struct ZipArchive: Equatable, Sendable {
  public struct Entry: Equatable, Sendable {
    /// As the archive has it: a path of plain names.
    public let name: String
    public let bytes: [UInt8]
  }

  /// More files than any firmware package has.
  public static let entryMaximum = 64
  /// Deflate makes at most 1032 octets of one (zlib, technical details).
  static let ratioMaximum = 1032
  /// Stored archives within the archive carry entry headers of their own, which count here.
  private static let headerMaximum = 1024
  private static let localMagic: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
  private static let centralMagic: [UInt8] = [0x50, 0x4B, 0x01, 0x02]

  /// In the archive's order, without its folders.
  public let entries: [Entry]

  /// Whether a file that begins with these bytes is meant to be an archive.
  static func begins(_ bytes: [UInt8]) -> Bool { bytes.starts(with: localMagic) }

  public subscript(name: String) -> [UInt8]? { entries.first { $0.name == name }?.bytes }

  /// Unpacks a whole archive.
  /// - Parameter limit: of all entries together, in bytes.
  public init(decoding bytes: [UInt8], limit: Int) throws(ZipFault) {
    guard Self.begins(bytes) else { throw .notAnArchive }
    guard Self.countCentralHeaders(bytes) <= Self.headerMaximum else {
      throw .tooManyEntries(limit: Self.entryMaximum)
    }
    // The library reads from the buffer until it is closed.
    let unpacked = bytes.withUnsafeBytes { buffer in
      do throws(ZipFault) {
        return Result<[Entry], ZipFault>.success(try Self.unpack(buffer, limit: limit))
      } catch {
        return .failure(error)
      }
    }
    entries = try unpacked.get()
  }

  /// The library allocates for every entry before it can be asked how many there are; each has
  /// such a header, so counting them bounds what it does.
  private static func countCentralHeaders(_ bytes: [UInt8]) -> Int {
    var count = 0
    for start in bytes.indices.dropLast(3)
    where bytes[start] == centralMagic[0] && bytes[start + 1] == centralMagic[1]
      && bytes[start + 2] == centralMagic[2] && bytes[start + 3] == centralMagic[3]
    {
      count += 1
    }
    return count
  }

  private static func unpack(
    _ buffer: UnsafeRawBufferPointer, limit: Int
  ) throws(ZipFault) -> [Entry] {
    let archive = try OpenArchive(buffer)
    let count = archive.entryCount
    guard count <= entryMaximum else { throw .tooManyEntries(limit: entryMaximum) }
    var entries: [Entry] = []
    var left = limit
    for index in 0..<count {
      let facts = try archive.facts(of: index)
      try check(facts, left: left, limit: limit)
      if facts.name.hasSuffix("/") { continue }
      entries.append(Entry(name: facts.name, bytes: try archive.bytes(of: facts)))
      left -= facts.size
    }
    return entries
  }

  private static func check(_ facts: EntryFacts, left: Int, limit: Int) throws(ZipFault) {
    guard isPlain(facts.name) else { throw .unsafeName(facts.name) }
    guard !facts.isEncrypted else { throw .encrypted(name: facts.name) }
    guard facts.method == UInt16(ZIP_CM_STORE) || facts.method == UInt16(ZIP_CM_DEFLATE) else {
      throw .unknownCompression(name: facts.name, method: facts.method)
    }
    guard facts.size <= left else { throw .tooLarge(name: facts.name, limit: limit) }
    let (possible, overflow) = facts.compressedSize.multipliedReportingOverflow(by: ratioMaximum)
    guard overflow || facts.size <= possible else {
      throw .impossibleRatio(
        name: facts.name, size: facts.size, compressedSize: facts.compressedSize)
    }
  }

  /// Names are only keys here and never paths; one that would lead elsewhere as a path is refused
  /// all the same, since no honest tool writes it.
  private static func isPlain(_ name: String) -> Bool {
    let path = name.hasSuffix("/") ? name.dropLast() : name[...]
    let hasControl = path.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    guard !hasControl, !path.contains("\\"), !path.contains(":") else { return false }
    return path.split(separator: "/", omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }
}
