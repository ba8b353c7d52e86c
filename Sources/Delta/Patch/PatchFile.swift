import OtaflashFirmware

/// A file that holds a patch where an image is wanted: detools' own, or one behind the header of
/// ESP-IDF's `esp_delta_ota` (64 bytes: magic, SHA-256 of the base image, fill).
package struct PatchFile: Equatable, Sendable {
  private static let espMagic: [UInt8] = [0x10, 0xDE, 0xCD, 0xFC]
  private static let espDigest = 4..<36
  private static let espHeaderSize = 64

  /// SHA-256 of the image that a file for `esp_delta_ota` was made against: the one that image
  /// carries. Detools' own patches do not tell theirs.
  package let baseDigest: [UInt8]?
  /// `nil` where the bytes behind a header are no whole patch.
  package let patch: PatchDescription?

  /// - Returns: `nil` for bytes that are no patch.
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

  /// The patch in a file, without the header of ESP-IDF's.
  package static func patch(in bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes.starts(with: espMagic) && bytes.count >= espHeaderSize
      ? bytes[espHeaderSize...] : bytes[...]
  }

  /// What the file is, as a person calls it.
  package var name: String {
    baseDigest == nil ? "a detools patch" : "an ESP-IDF delta update (esp_delta_ota)"
  }
}

extension FirmwareImage {
  /// The patch that the bytes are instead of an image; `nil` for what can be one.
  package var patchFile: PatchFile? {
    guard content == .plain, format == .binary else { return nil }
    return PatchFile(of: bytes)
  }
}
