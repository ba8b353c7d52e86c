/// The reason why an archive was rejected. No part of it was written to disk.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ZipFault: Error, Equatable, Sendable {
  /// The archive does not start with a local file header.
  case notAnArchive
  /// The archive does not end with a central directory.
  case cutOff
  /// The archive's structure is inconsistent.
  case damaged(String)
  /// The archive stores sizes or offsets in ZIP64 records, which firmware packages do not need.
  case zip64
  /// The file is one part of a split archive.
  case severalDisks
  /// Two files use the same bytes of the archive.
  case overlap(String, String)
  /// A file needs a later version of the format; 63 stands for 6.3.
  case laterVersion(name: String, version: Int)
  /// The archive has more files than any firmware package.
  case tooManyEntries(limit: Int)
  /// A name refers to a path outside of the archive, is not valid UTF-8, or is ambiguous between
  /// readers.
  case unsafeName(String)
  /// Two files have the same name, and readers do not agree on which file to use.
  case nameRepeated
  /// The file is encrypted with a password.
  case encrypted(name: String)
  /// The compression method is neither "stored" nor "deflated".
  case unknownCompression(name: String, method: UInt16)
  /// An entry, or all entries together, exceed the limit in bytes.
  case tooLarge(name: String, limit: Int)
  /// The stated size is larger than deflate can yield from the compressed size, so the sizes are
  /// forged.
  case impossibleRatio(name: String, size: Int, compressedSize: Int)
  /// An entry's bytes do not match its sizes or its CRC32.
  case entryDamaged(name: String, String)
}

extension ZipFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAnArchive: "it is not a ZIP archive"
    case .cutOff: "the ZIP archive is truncated: there is no directory at its end"
    case .zip64: "the ZIP archive is in ZIP64 format, which is not supported"
    case .severalDisks: "this is one part of a ZIP archive that was split"
    case .overlap(let first, let second):
      "'\(first)' and '\(second)' share bytes of the ZIP archive"
    case .laterVersion(let name, let version):
      "'\(name)' in the ZIP archive needs version \(version / 10).\(version % 10) of the format"
    case .damaged(let detail): "the ZIP archive is damaged: \(detail)"
    case .tooManyEntries(let limit): "the ZIP archive has more than \(limit) entries"
    case .unsafeName(let name):
      "the ZIP archive has an entry '\(name)', which is not a plain file name"
    case .nameRepeated: "the ZIP archive has two entries of the same name"
    case .encrypted(let name): "'\(name)' in the ZIP archive is encrypted"
    case .unknownCompression(let name, let method):
      "'\(name)' in the ZIP archive has compression method \(method); 0 and 8 are supported"
    case .tooLarge(let name, let limit):
      "with '\(name)' the ZIP archive unpacks to more than the limit of \(limit) bytes"
    case .impossibleRatio(let name, let size, let compressedSize):
      "'\(name)' in the ZIP archive cannot have \(size) bytes, packed into \(compressedSize)"
    case .entryDamaged(let name, let detail):
      "'\(name)' in the ZIP archive is damaged: \(detail)"
    }
  }
}
