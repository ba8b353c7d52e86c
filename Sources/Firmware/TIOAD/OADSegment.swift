/// A segment of an image for TI's OAD: type, technology, a reserved byte, and the length with this
/// header, followed by the fields of the type.
package struct OADSegment: Equatable, Sendable {
  /// The type of a segment.
  package enum Kind: UInt8, Sendable {
    /// The boundary between application and stack.
    case boundary = 0
    /// The code, at consecutive addresses.
    case contiguous = 1
    /// The code, at several addresses.
    case scattered = 2
    /// The signature.
    case security = 3
    /// Values for the nonvolatile memory.
    case memory = 4
    /// A difference from another image.
    case delta = 5

    /// Whether the segment contains code, which is the rest of the file.
    var isCode: Bool {
      switch self {
      case .contiguous, .scattered, .delta: true
      case .boundary, .security, .memory: false
      }
    }
  }

  private static let headerSize = 8
  private static let lengthOffset = 4
  /// The header of a segment with code, which contains the address.
  private static let codeHeaderSize = 12
  /// The maximum number of segments up to and including the code, which bounds the search in a
  /// hostile file.
  private static let countMaximum = 16

  let kind: Kind
  /// The offset of the segment in the file.
  package let offset: Int
  /// The length of the segment in bytes.
  let length: Int

  /// The offset of the code.
  var codeOffset: Int { min(offset + Self.codeHeaderSize, offset + length) }

  /// Decodes the segments up to and including the first segment with code.
  static func all(in bytes: [UInt8]) throws(OADImageFault) -> [OADSegment] {
    var segments: [OADSegment] = []
    var offset = OADImage.coreSize
    while segments.count < countMaximum {
      guard let length: UInt32 = bytes.littleEndian(at: offset + lengthOffset),
        length >= headerSize, Int(length) <= bytes.count - offset
      else { throw .segmentBeyondEnd(offset: offset) }
      guard let kind = Kind(rawValue: bytes[offset]) else {
        throw .segmentUnknown(bytes[offset], offset: offset)
      }
      segments.append(OADSegment(kind: kind, offset: offset, length: Int(length)))
      if kind.isCode { return segments }
      offset += Int(length)
    }
    throw .codeMissing(offset: offset)
  }
}
