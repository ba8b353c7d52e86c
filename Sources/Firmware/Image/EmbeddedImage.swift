/// An MCUboot image that begins somewhere within a plain one: a file of a whole flash, with the
/// bootloader below.
package struct EmbeddedImage: Equatable, Sendable {
  /// From the first byte of the file's image.
  package let offset: Int
  /// The image that was found.
  package let image: MCUbootImage

  /// Slots begin where pages of flash do; the smallest are of 512 bytes.
  private static let step = 512
  /// Places with the magic that are looked at; each costs a copy.
  private static let triesMaximum = 16

  /// The first one of a plain image, if any. It begins behind the first byte.
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

  /// The addresses to ask for; `nil` of a file that has none.
  package func region(in outer: FirmwareImage) -> AddressRegion? {
    outer.layout.flatMap { layout in
      let start = UInt64(layout.lowestAddress) + UInt64(offset)
      return AddressRegion(start..<(start + UInt64(image.size)))
    }
  }
}
