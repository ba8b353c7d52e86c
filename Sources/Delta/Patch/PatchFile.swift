import OtaflashFirmware

/// A patch file that was passed in place of an image: a detools patch, with or without the header
/// of ESP-IDF's `esp_delta_ota` (64 bytes: magic, SHA-256 of the base image, fill), or a patch of
/// format 2 with the header of a part.
package struct PatchFile: Equatable, Sendable {
  private static let espMagic: [UInt8] = [0x10, 0xDE, 0xCD, 0xFC]
  private static let espDigest = 4..<36
  private static let espHeaderSize = 64

  /// The SHA-256 of the base in a file for `esp_delta_ota`, which is the SHA-256 that the base
  /// image contains. Patches by detools do not state a hash of their base.
  package let baseDigest: [UInt8]?
  /// The patch; `nil` if the bytes after the header are not a complete patch.
  package let patch: PatchDescription?

  /// - Returns: `nil` if the bytes are not a patch.
  package init?(of bytes: [UInt8]) {
    if bytes.starts(with: Self.espMagic), bytes.count >= Self.espHeaderSize {
      baseDigest = Array(bytes[Self.espDigest])
      patch = PatchDescription(of: bytes[Self.espHeaderSize...])
    } else if let range = Self.rangeOfPart(in: bytes) {
      baseDigest = nil
      do throws(PatchFault) { patch = try PatchDescription(reading: bytes[range]) } catch {
        patch = nil
      }
    } else if let patch = PatchDescription(of: bytes[...]) {
      baseDigest = nil
      self.patch = patch
    } else {
      return nil
    }
  }

  /// Returns the content of the file for a patch. A patch of format 2 is stored with the header of
  /// its only part, because other files may start with the same bytes as the patch.
  package static func bytes(of patch: Patch, creating image: [UInt8]) -> [UInt8] {
    guard patch.codec.isMapped else { return patch.bytes }
    let header = PartHeader(
      imageOffset: 0, imageBytes: UInt32(image.count), patchBytes: UInt32(patch.bytes.count),
      crc32: CRC32.checksum(image))
    return header.encoded + patch.bytes
  }

  /// Returns the range of a patch of format 2 after the header of its part; `nil` if the file
  /// contains no such patch.
  private static func rangeOfPart(in bytes: [UInt8]) -> Range<Int>? {
    let header: PartHeader
    do throws(PatchFault) { header = try PartHeader(decoding: bytes[...], at: 0) } catch {
      return nil
    }
    guard header.imageOffset == 0, header.patchBytes > 1,
      Int(header.patchBytes) == bytes.count - PartHeader.size
    else { return nil }
    let range = PartHeader.size..<bytes.count
    return bytes[range.lowerBound] >> 4 == PatchCodec.mappedType ? range : nil
  }

  /// Returns the bytes of the patch in a file, without the header of ESP-IDF or of a part.
  package static func patch(in bytes: [UInt8]) -> ArraySlice<UInt8> {
    if let range = rangeOfPart(in: bytes) { return bytes[range] }
    return bytes.starts(with: espMagic) && bytes.count >= espHeaderSize
      ? bytes[espHeaderSize...] : bytes[...]
  }

  /// The display name of the file type.
  package var name: String {
    if baseDigest != nil { return "an ESP-IDF delta update (esp_delta_ota)" }
    return patch?.kind == .mapped ? "an otaflash patch" : "a detools patch"
  }
}

extension FirmwareImage {
  /// The patch, if the bytes are a patch and not an image; otherwise `nil`.
  package var patchFile: PatchFile? {
    guard content == .plain, format == .binary else { return nil }
    return PatchFile(of: bytes)
  }
}
