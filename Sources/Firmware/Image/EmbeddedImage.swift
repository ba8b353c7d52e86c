/// An MCUboot image within a plain image: the file covers the complete flash, and the bootloader
/// precedes the MCUboot image.
package struct EmbeddedImage: Equatable, Sendable {
  /// The offset from the first byte of the file's image.
  package let offset: Int
  /// The embedded image.
  package let image: MCUbootImage

  /// The alignment of slots. Slots start at flash pages, and the smallest pages have 512 bytes.
  private static let step = 512
  /// The maximum number of places with the magic that are decoded, because each decoding copies the
  /// bytes.
  private static let triesMaximum = 16

  /// Finds the first embedded image of a plain image, if any, after the first byte.
  package init?(in outer: FirmwareImage) {
    guard outer.content == .plain else { return nil }
    let magic = MCUbootHeader.magic
    let bytes = outer.bytes
    let candidates = stride(from: Self.step, to: bytes.count, by: Self.step).lazy
      .filter { bytes.littleEndian(UInt32.self, at: $0) == magic }
    for offset in candidates.prefix(Self.triesMaximum) {
      do throws(MCUbootFault) {
        image = try MCUbootImage(decoding: Array(bytes[offset...]))
        self.offset = offset
        return
      } catch {
        continue
      }
    }
    return nil
  }

  /// Returns the region of the embedded image; `nil` if the file has no addresses.
  package func region(in outer: FirmwareImage) -> AddressRegion? {
    outer.layout.flatMap { layout in
      let start = UInt64(layout.lowestAddress) + UInt64(offset)
      return AddressRegion(start..<(start + UInt64(image.size)))
    }
  }
}
