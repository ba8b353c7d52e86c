import OtaflashFirmware

/// A patch file that was passed in place of an image: a detools patch, with or without the header
/// of ESP-IDF's `esp_delta_ota` (64 bytes: magic, SHA-256 of the base image, fill).
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
    } else if let patch = PatchDescription(of: bytes[...]) {
      baseDigest = nil
      self.patch = patch
    } else {
      return nil
    }
  }

  /// The patch in a file, without the header of ESP-IDF.
  package static func patch(in bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes.starts(with: espMagic) && bytes.count >= espHeaderSize
      ? bytes[espHeaderSize...] : bytes[...]
  }

  /// The display name of the file type.
  package var name: String {
    baseDigest == nil ? "a detools patch" : "an ESP-IDF delta update (esp_delta_ota)"
  }
}

extension FirmwareImage {
  /// The patch, if the bytes are a patch and not an image; otherwise `nil`.
  package var patchFile: PatchFile? {
    guard content == .plain, format == .binary else { return nil }
    return PatchFile(of: bytes)
  }
}
