/// The reason why a patch was rejected, or does not match this base. Devices reject the same
/// patches.
package struct PatchFault: Error, Equatable, Sendable {
  package enum Reason: Equatable, Sendable {
    /// The patch ends before the image is complete.
    case cutOff
    case reservedBit
    /// The patch is a detools patch of another type (in-place, hdiffpatch).
    case type(UInt8)
    case codec(UInt8)
    case heatshrinkParameters(UInt8)
    /// Bytes were transformed by the rules of an instruction set before the comparison.
    case dataFormat
    /// The address map of format 2 has too many entries, or they are not in ascending order.
    case addressMap
    case imageSize(stated: Int, limit: Int)
    case numberTooLong
    case negativeSize
    /// A difference or new bytes extend beyond the end of the image.
    case beyondImage(size: Int, left: Int)
    /// A difference extends beyond the end of the base.
    case beyondBase(size: Int, left: Int)
    case seekOutsideBase(Int)
    /// More than `PatchReader.emptyMaximum` consecutive triples of format 1, or one triple of
    /// format 2, created no bytes. `PatchDescription` also throws this for an image size of 0.
    case nothingMade
    case blockKind(UInt8)
    /// The last byte of heatshrink is not padded with zeros, a token or a block extends beyond the
    /// end of the image, or the range coder does not end with the value 0.
    case padding
    case bytesBehindEnd(Int)
    case partHeader(PartHeaderFault)
    /// The created bytes do not match the checksum of the part.
    case checksum(stated: UInt32, found: UInt32)
  }

  package let reason: Reason
  /// The offset, from 0, of the byte that was read last in the patch or the stream of parts.
  package let offset: Int

  init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// An error in a part's header.
package enum PartHeaderFault: Equatable, Sendable {
  case imageOffset(UInt32, expected: Int)
  case imageBytes(UInt32, left: Int)
  /// A part other than the last part does not end at a page boundary.
  case notWholePages(UInt32)
  case patchBytes(UInt32, left: Int)
  /// The patch creates more or fewer bytes than the header of the part states.
  case patchDisagrees(Int)
}

extension PatchFault: CustomStringConvertible {
  package var description: String { "offset \(offset): \(reason.sentence)" }
}

extension PatchFault.Reason {
  fileprivate var sentence: String {
    switch self {
    case .cutOff: "it is truncated: the image is not complete"
    case .reservedBit: "bit 7 of the first byte is reserved"
    case .type(let type):
      "the patch is \(Self.typeName(type)), but only sequential patches are supported"
    case .codec(let codec): "the compression is \(Self.codecName(codec)), which is not supported"
    case .heatshrinkParameters(let byte):
      "heatshrink with a window of \(byte >> 4 + 4) bits and a lookahead of \(byte & 15 + 3)"
    case .dataFormat: "it needs a data format, which is not supported"
    case .addressMap: "the address map has too many entries, or they are not sorted"
    case .imageSize(let stated, let limit): "it creates \(stated) bytes; 1 to \(limit) are possible"
    case .numberTooLong: "a number has more than 31 bits"
    case .negativeSize: "a size is negative"
    case .beyondImage(let size, let left): "\(size) bytes, but the image has only \(left) more"
    case .beyondBase(let size, let left):
      "a difference to \(size) bytes, but the base has only \(left) more"
    case .seekOutsideBase(let place): "a seek to byte \(place), which is outside the base"
    case .nothingMade: "too many consecutive steps create no bytes"
    case .blockKind(let kind): "an unknown CRLE block of kind \(kind)"
    case .padding: "the padding of the last byte is not zero"
    case .bytesBehindEnd(let count): "\(count) bytes after the end of the patch"
    case .partHeader(let fault): fault.sentence
    case .checksum(let stated, let found):
      "the image's CRC32 is \(Self.hexadecimal(found)), not \(Self.hexadecimal(stated))"
    }
  }

  private static func typeName(_ type: UInt8) -> String {
    switch type {
    case 1: "an in-place patch"
    case 2: "an hdiffpatch patch"
    default: "of the unknown type \(type)"
    }
  }

  /// The names that detools uses for its codecs.
  private static func codecName(_ codec: UInt8) -> String {
    let names = ["none", "lzma", "crle", "bz2", "heatshrink", "zstd", "lz4"]
    return names.indices.contains(Int(codec)) ? names[Int(codec)] : "of the unknown kind \(codec)"
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension PartHeaderFault {
  fileprivate var sentence: String {
    switch self {
    case .imageOffset(let stated, let expected):
      "a part starts at byte \(stated) of the image, not at \(expected)"
    case .imageBytes(let stated, let left):
      "a part creates \(stated) bytes, but the image has only \(left) more"
    case .notWholePages(let stated): "a part of \(stated) bytes does not end with a page"
    case .patchBytes(let stated, let left):
      "a part has \(stated) bytes, but the stream has only \(left) left"
    case .patchDisagrees(let stated): "the patch in the part creates \(stated) bytes"
    }
  }
}
