/// Why an archive is not read. Nothing of it was written anywhere.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ZipFault: Error, Equatable, Sendable {
  /// No file begins where an archive's first does.
  case notAnArchive
  /// There is no directory at its end.
  case cutOff
  /// The archive's structure contradicts itself.
  case damaged(String)
  /// Sizes or offsets in ZIP64 records, which no firmware needs.
  case zip64
  /// A part of an archive that was split over several files.
  case severalDisks
  /// Two files for the same bytes of the archive.
  case overlap(String, String)
  /// A file that only readers of a later version of the format can unpack; 63 is 6.3.
  case laterVersion(name: String, version: Int)
  /// More files than any package has.
  case tooManyEntries(limit: Int)
  /// A name that leads out of the archive, is no text, or means different places to different
  /// readers.
  case unsafeName(String)
  /// Two files have one name, and readers differ in which they take.
  case nameRepeated
  /// The file can be read with a password only.
  case encrypted(name: String)
  /// Neither stored nor deflated.
  case unknownCompression(name: String, method: UInt16)
  /// An entry, or all together, have more bytes than the limit.
  case tooLarge(name: String, limit: Int)
  /// More bytes than deflate can make of so few: the sizes are made up.
  case impossibleRatio(name: String, size: Int, compressedSize: Int)
  /// An entry's bytes do not come out as its sizes and its CRC32 say.
  case entryDamaged(name: String, String)
}

extension ZipFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAnArchive: "no ZIP archive begins here"
    case .cutOff: "the ZIP archive was cut off: there is no directory at its end"
    case .zip64: "the ZIP archive is in ZIP64 format, which is not read"
    case .severalDisks: "this is one part of a ZIP archive that was split"
    case .overlap(let first, let second):
      "'\(first)' and '\(second)' share bytes of the ZIP archive"
    case .laterVersion(let name, let version):
      "'\(name)' in the ZIP archive needs version \(version / 10).\(version % 10) of the format"
    case .damaged(let detail): "the ZIP archive is damaged: \(detail)"
    case .tooManyEntries(let limit): "the ZIP archive has more than \(limit) entries"
    case .unsafeName(let name):
      "the ZIP archive has an entry '\(name)', which is no plain file name"
    case .nameRepeated: "the ZIP archive has two entries of the same name"
    case .encrypted(let name): "'\(name)' in the ZIP archive is encrypted"
    case .unknownCompression(let name, let method):
      "'\(name)' in the ZIP archive is compressed by method \(method); known are 0 and 8"
    case .tooLarge(let name, let limit):
      "with '\(name)' the ZIP archive unpacks to more than the limit of \(limit) bytes"
    case .impossibleRatio(let name, let size, let compressedSize):
      "'\(name)' in the ZIP archive cannot have \(size) bytes, packed into \(compressedSize)"
    case .entryDamaged(let name, let detail):
      "'\(name)' in the ZIP archive is damaged: \(detail)"
    }
  }
}
