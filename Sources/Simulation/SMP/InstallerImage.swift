import OtaflashFirmware

/// An installer of Nordic's bare-metal SDK in the application's slot. It runs once: it verifies the
/// CRC32 of its table and of each image, copies the images, and always clears its own header (nRF
/// Connect SDK Bare Metal, `applications/installer/src/main.c`).
struct InstallerImage: Sendable {
  private static let recordType: UInt16 = 0xA0
  private static let magic: [UInt8] = [0x92, 0x11, 0xF2, 0xE9]
  private static let entrySize = 24
  private static let loaderID: UInt8 = 2
  /// The maximum number of images: a SoftDevice and a firmware loader.
  private static let imageCount = 2

  /// The image of the firmware loader; empty if the installer contains no firmware loader; `nil` if
  /// the table or an image is damaged, in which case nothing is copied. The SoftDevice is not
  /// stored, because no command reports it.
  let loader: [UInt8]?

  /// Returns `nil` if the image is not an installer.
  init?(_ image: BootableImage, in slot: [UInt8]) {
    guard image.hasProtectedRecord(type: Self.recordType, value: [1]) else { return nil }
    let start = image.header.headerSize
    loader = Self.loader(in: Array(slot[start..<start + image.header.bodySize]))
  }

  private static func loader(in body: [UInt8]) -> [UInt8]? {
    for start in body.indices where body[start...].starts(with: magic) {
      for count in 1...imageCount {
        let end = start + magic.count + count * entrySize
        guard end + 4 <= body.count,
          CRC32.checksum(body[start..<end]) == body.littleEndianWord(at: end)
        else { continue }
        return loader(in: body, at: start + magic.count, count: count, data: end + 4)
      }
    }
    return nil
  }

  private static func loader(
    in body: [UInt8], at table: Int, count: Int, data: Int
  ) -> [UInt8]? {
    var loader: [UInt8] = []
    for entry in (0..<count).map({ table + $0 * entrySize }) {
      let start = data + Int(body.littleEndianWord(at: entry + 8))
      let end = start + Int(body.littleEndianWord(at: entry + 12))
      guard end <= body.count,
        CRC32.checksum(body[start..<end]) == body.littleEndianWord(at: entry + 16)
      else { return nil }
      if body[entry + 20] == loaderID { loader = Array(body[start..<end]) }
    }
    return loader
  }
}

extension SMPFirmware {
  /// Runs the installer in the application's slot: copies the firmware loader to the second slot,
  /// and clears the installer's header.
  ///
  /// - Returns: the duration of the flash operations; zero if the slot contains no installer.
  func runInstaller() throws(FlashFault) -> Duration {
    let layout = parts.settings.layout
    let slot = try parts.flash.read(layout.slot(0)..<layout.slot(1))
    guard let image = BootableImage(decoding: slot[...]), isStartable(image, in: slot),
      let installer = InstallerImage(image, in: slot)
    else { return .zero }
    var operations: [FlashOperation] = []
    if let loader = installer.loader, !loader.isEmpty, loader.count <= parts.settings.slotSize {
      operations += stride(from: 0, to: loader.count, by: layout.pageSize).flatMap {
        offset -> [FlashOperation] in
        let page = layout.slot(1) + offset
        let bytes = Array(loader[offset..<min(offset + layout.pageSize, loader.count)])
        return [.erase(page: page), .write(bytes, at: page)]
      }
    }
    operations.append(.erase(page: layout.slot(0)))
    for operation in operations { try parts.flash.perform(operation) }
    return operations.reduce(.zero) { $0 + parts.flash.geometry.duration(of: $1) }
  }
}
