import OtaflashFirmware

/// The header of each patch in a stream: 16 bytes, little-endian (docs/delta.md, section 2).
struct PartHeader: Equatable, Sendable {
  static let size = 16

  /// The end of the previous part; a multiple of the page size.
  var imageOffset: UInt32
  /// The number of image bytes that the part creates; a multiple of the page size except in the
  /// last part.
  var imageBytes: UInt32
  /// The size of the following patch in bytes.
  var patchBytes: UInt32
  /// The CRC32 of the image up to the end of this part.
  var crc32: UInt32

  var encoded: [UInt8] {
    [imageOffset, imageBytes, patchBytes, crc32].flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
    }
  }

  init(imageOffset: UInt32, imageBytes: UInt32, patchBytes: UInt32, crc32: UInt32) {
    (self.imageOffset, self.imageBytes) = (imageOffset, imageBytes)
    (self.patchBytes, self.crc32) = (patchBytes, crc32)
  }

  init(decoding bytes: ArraySlice<UInt8>, at offset: Int) throws(PatchFault) {
    guard bytes.count >= Self.size else { throw PatchFault(.cutOff, at: offset + bytes.count) }
    func word(_ index: Int) -> UInt32 {
      (0..<4).reduce(0) {
        $0 | UInt32(bytes[bytes.startIndex + 4 * index + $1]) << (8 * UInt32($1))
      }
    }
    self.init(
      imageOffset: word(0), imageBytes: word(1), patchBytes: word(2), crc32: word(3))
  }
}

/// A stream of parts, which a device receives in place of an image.
package enum PatchParts {
  /// Applies a complete stream in the same way as a device that has `base` and knows the size of
  /// the image.
  package static func apply(
    _ stream: [UInt8], to base: [UInt8], imageSize: Int, pageSize: Int
  ) throws(PatchFault) -> PatchReader.Result {
    var image: [UInt8] = []
    var pages: [Int] = []
    var crc = CRC32()
    var codec = PatchCodec.none
    var at = 0
    repeat {
      let (header, end) = try readHeader(
        stream, at, made: image.count, imageSize: imageSize, pageSize: pageSize)
      at += PartHeader.size
      var reader = try PatchReader(
        PatchInput(stream[at..<end], startingAt: at), base: base, limit: imageSize,
        imageOffset: image.count)
      guard reader.statedSize == Int(header.imageBytes) else {
        throw PatchFault(.partHeader(.patchDisagrees(reader.statedSize)), at: at)
      }
      let result = try reader.run(pageSize: pageSize)
      image += result.image
      pages += result.bytesAtPages
      codec = result.codec
      crc.update(result.image)
      guard crc.value == header.crc32 else {
        throw PatchFault(.checksum(stated: header.crc32, found: crc.value), at: end - 1)
      }
      at = end
    } while image.count < imageSize
    return PatchReader.Result(image: image, codec: codec, bytesAtPages: pages)
  }

  private static func readHeader(
    _ stream: [UInt8], _ at: Int, made: Int, imageSize: Int, pageSize: Int
  ) throws(PatchFault) -> (PartHeader, end: Int) {
    let header = try PartHeader(decoding: stream[at...], at: at)
    func fault(_ fault: PartHeaderFault, _ field: Int) -> PatchFault {
      PatchFault(.partHeader(fault), at: at + 4 * field)
    }
    guard header.imageOffset == made else {
      throw fault(.imageOffset(header.imageOffset, expected: made), 0)
    }
    guard (1...max(1, imageSize - made)).contains(Int(header.imageBytes)) else {
      throw fault(.imageBytes(header.imageBytes, left: imageSize - made), 1)
    }
    let isLast = Int(header.imageBytes) == imageSize - made
    guard isLast || Int(header.imageBytes) % pageSize == 0 else {
      throw fault(.notWholePages(header.imageBytes), 1)
    }
    let left = stream.count - at - PartHeader.size
    guard Int(header.patchBytes) <= left, isLast == (Int(header.patchBytes) == left) else {
      throw fault(.patchBytes(header.patchBytes, left: left), 2)
    }
    return (header, at + PartHeader.size + Int(header.patchBytes))
  }
}
