import OtaflashConsole
import OtaflashFirmware

/// The costs of MCUboot after an upload, and the gain from a compressed image, which only
/// bootloaders that overwrite the slot accept.
package struct BootloaderCosts: Equatable, Sendable {
  /// The size of an image after `imgtool --compression lzma2armthumb` divided by its size after
  /// deflate: 0.82 to 0.88, with a geometric mean of 0.85, for 39 Arm images (docs/mcuboot.md).
  private static let lzmaShare = 0.85
  /// The number of times that a swap with an offset or with moves erases and writes each page of
  /// the image; overwriting does this once.
  private static let swapPasses = 2.0

  /// The size of the file in bytes.
  package let size: Int
  /// The estimated size with `--compression lzma2armthumb`.
  package let compressedSize: Int
  /// The number of pages that the image occupies.
  package let pages: Int

  /// - Returns: `nil` if the image is not an image of MCUboot, or is compressed or encrypted.
  package init?(of image: FirmwareImage, pageSize: Int) {
    guard let mcuboot = image.mcuboot, !mcuboot.isCompressed, !mcuboot.isEncrypted,
      pageSize > 0, !image.bytes.isEmpty, let deflated = Deflate.size(of: image.bytes)
    else { return nil }
    size = image.bytes.count
    compressedSize = min(size, Int(Double(deflated) * Self.lzmaShare))
    pages = (size + pageSize - 1) / pageSize
  }

  /// Returns the seconds in which MCUboot swaps the slots, for times in seconds per page.
  package func swapSeconds(erase: Double, write: Double) -> Double {
    Self.swapPasses * overwriteSeconds(erase: erase, write: write)
  }

  /// Returns the seconds in which MCUboot overwrites the slot.
  package func overwriteSeconds(erase: Double, write: Double) -> Double {
    Double(pages) * (erase + write)
  }

  /// The compressed size as text, such as `about 71 kB (54 %)`.
  private var compressedWords: String {
    "about \(Text.grouped(compressedSize / 1000)) kB (\(compressedSize * 100 / size) %)"
  }

  /// The rows of `image info`, for flash with typical times.
  package var facts: [[String]] {
    let (erase, write) = (0.085, 0.04)
    return [
      [
        "swap",
        "\(Self.seconds(swapSeconds(erase: erase, write: write))) after the restart, "
          + "\(Self.seconds(overwriteSeconds(erase: erase, write: write))) with overwrite only "
          + "(estimate: 85 ms to erase and 40 ms to write 4 KiB)",
      ],
      [
        "compressible",
        "to \(compressedWords) by imgtool --compression lzma2armthumb, for bootloaders that only "
          + "overwrite (estimate for Arm code)",
      ],
    ]
  }

  /// Returns the sentence of `bench --image`, for times in seconds per page.
  package func sentence(erase: Double, write: Double) -> String {
    "after the restart, MCUboot swaps the slots in "
      + "\(Self.seconds(swapSeconds(erase: erase, write: write))) (overwrite only: "
      + "\(Self.seconds(overwriteSeconds(erase: erase, write: write)))); imgtool --compression "
      + "lzma2armthumb would reduce the image to \(compressedWords), for overwrite only (estimates)"
  }

  private static func seconds(_ value: Double) -> String { "about \(Text.fixed(value)) s" }
}
