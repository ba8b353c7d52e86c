/// Files for chips of Renesas that are not one image.
enum SUOTAFlashFile {
  /// The first bytes of a file for the complete flash: the header of a bootloader, or a product
  /// header, which states the addresses of two images.
  private static let signatures: [[UInt8]] = [
    [0x70, 0x50], [0x70, 0x52], [0x70, 0x62], [0x50, 0x70],
  ]
  /// The alignment of images in flash, and the space in which they are searched.
  private static let sector = 4096
  private static let searched = 1 << 20

  /// Rejects a file for the complete flash, which contains an image at the start of a sector.
  static func check(_ bytes: [UInt8]) throws(SUOTAImageFault) {
    guard signatures.contains(where: { bytes.starts(with: $0) }) else { return }
    for offset in stride(from: sector, to: min(bytes.count, searched), by: sector)
    where SUOTAImage.begins(bytes[offset...]) {
      throw .completeFlash(imageOffset: offset)
    }
  }
}
