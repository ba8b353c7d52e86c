/// Recognizable content that is not firmware, in an image without the structure of a known
/// bootloader. No chip with Bluetooth LE can run such bytes, but a device that only checks a CRC32
/// would accept them.
public enum ForeignContent: String, Sendable, CaseIterable {
  /// 0xFF in all bytes: the tool read flash that was not programmed.
  case erased = "nothing but 0xFF, as erased flash"
  /// 0x00 in all bytes: the tool read memory that does not exist, or the file was only
  /// preallocated.
  case zeros = "nothing but zeros"
  /// The placeholder of git for a large file that was not fetched.
  case gitLFSPointer = "a git-lfs pointer"
  /// `<!doctype html` or `<html`, in upper or lower case.
  case html = "an HTML page"
  /// Text that starts with `<` and is not HTML.
  case xml = "an XML text"
  /// Text that starts with `{` or `[`.
  case json = "a JSON text"
  /// `-----BEGIN` (RFC 7468).
  case pem = "a key or certificate in PEM"
  /// Readable text other than the kinds above.
  case text = "text"
  /// 1F 8B 08 (RFC 1952).
  case gzip = "a gzip archive"
  /// `BZh`.
  case bzip2 = "a bzip2 archive"
  /// FD `7zXZ` 00.
  case xz = "an xz archive"
  /// 28 B5 2F FD (RFC 8878).
  case zstd = "a Zstandard archive"
  /// `7z` BC AF 27 1C.
  case sevenZip = "a 7-Zip archive"
  /// `ustar` at offset 257 (POSIX.1-1988).
  case tar = "a tar archive"
  /// `!<arch>`: an archive of object files that were never linked.
  case staticLibrary = "a static library"
  /// E9, and an entry address of the family or segments within the file (ESP-IDF,
  /// `esp_image_header_t`).
  case esp32 = "an ESP32 application image"
  /// `DfuSe`: an image for ST's bootloader on USB (UM0391).
  case dfuse = "a DfuSe file for USB"
  /// D8 6B: the CBOR tag 107 of a SUIT envelope.
  case suit = "a SUIT envelope"
  /// `MZ`, and `PE` at the stated offset.
  case windowsProgram = "a Windows program"
  /// 89 `PNG`.
  case png = "a PNG picture"
  /// `%PDF-`.
  case pdf = "a PDF document"

  /// The action to take, as one complete sentence.
  public var advice: String {
    switch self {
    case .erased, .zeros: "The tool that wrote the file did not read firmware."
    case .gitLFSPointer: "'git lfs pull' fetches the actual file."
    case .html: "The download needs a login, or the link leads to a page about the file."
    case .xml, .json, .pem, .text, .png, .pdf, .windowsProgram: "Choose another file."
    case .gzip, .bzip2, .xz, .zstd, .sevenZip, .tar: "Unpack the archive first."
    case .staticLibrary: "Link the library: only a linked program has load addresses."
    case .esp32: "Only the bootloader of the ESP32 accepts this image."
    case .dfuse: "Use the binary from which it was created, or its HEX or ELF file."
    case .suit: "SUIT is not supported; use an MCUboot image or a Nordic DFU package."
    }
  }

  /// Whether the file is readable text.
  public var isText: Bool {
    switch self {
    case .gitLFSPointer, .html, .xml, .json, .pem, .text: true
    case .erased, .zeros, .gzip, .bzip2, .xz, .zstd, .sevenZip, .tar, .staticLibrary, .esp32,
      .dfuse, .suit, .windowsProgram, .png, .pdf:
      false
    }
  }
}

extension ForeignContent {
  private static let beginnings: [([UInt8], ForeignContent)] = [
    ([0x1F, 0x8B, 0x08], .gzip), (Array("BZh".utf8), .bzip2),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .xz), ([0x28, 0xB5, 0x2F, 0xFD], .zstd),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .sevenZip), (Array("!<arch>\n".utf8), .staticLibrary),
    (Array("DfuSe".utf8), .dfuse), ([0xD8, 0x6B], .suit), ([0x89, 0x50, 0x4E, 0x47], .png),
    (Array("%PDF-".utf8), .pdf),
  ]

  /// Returns `nil` if the bytes may be firmware.
  init?(of bytes: [UInt8]) {
    if let first = bytes.first, first == 0xFF || first == 0, bytes.allSatisfy({ $0 == first }) {
      self = first == 0 ? .zeros : .erased
    } else if let known = Self.beginnings.first(where: { bytes.starts(with: $0.0) }) {
      self = known.1
    } else if bytes.dropFirst(257).starts(with: Array("ustar".utf8)) {
      self = .tar
    } else if Self.isWindowsProgram(bytes) {
      self = .windowsProgram
    } else if Self.isESP32(bytes) {
      self = .esp32
    } else if let text = Self.text(bytes) {
      self = text
    } else {
      return nil
    }
  }

  /// Returns whether the bytes start with `MZ`, and have `PE` at the stated offset. A vector table
  /// never starts with `MZ`, because its first word, the stack pointer, is a multiple of 4.
  private static func isWindowsProgram(_ bytes: [UInt8]) -> Bool {
    guard bytes.starts(with: Array("MZ".utf8)), let at: UInt32 = bytes.littleEndian(at: 0x3C),
      let magic: UInt32 = bytes.littleEndian(at: Int(at))
    else { return false }
    return magic == 0x0000_4550
  }

  /// The instruction addresses of the ESP32 family of chips.
  private static let esp32Instructions: Range<UInt32> = 0x4000_0000..<0x5000_0000

  /// Checks the magic, the number of segments and the SPI mode (ESP-IDF, `esp_image_header_t`).
  /// Then checks that the entry address is an address of the family, or that the segments are
  /// within the file. No stack pointer of a Cortex-M ends in E9.
  private static func isESP32(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 32, bytes[0] == 0xE9, (1...16).contains(bytes[1]), bytes[2] <= 5,
      let entry: UInt32 = bytes.littleEndian(at: 4)
    else { return false }
    if esp32Instructions.contains(entry) { return true }
    var offset = 24
    for _ in 0..<bytes[1] {
      guard let size = bytes.littleEndian(UInt32.self, at: offset + 4),
        Int(size) <= bytes.count - offset - 8
      else { return false }
      offset += 8 + Int(size)
    }
    return true
  }

  /// Returns the kind of text, if all bytes are text; otherwise `nil`.
  private static func text(_ bytes: [UInt8]) -> ForeignContent? {
    let blanks: [UInt8] = [0x09, 0x0A, 0x0C, 0x0D]
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || blanks.contains($0) }),
      let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let start = text.prefix(512).lowercased().drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if start.hasPrefix("version https://git-lfs.github.com/spec/") { return .gitLFSPointer }
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") { return .html }
    if start.hasPrefix("<") { return .xml }
    if start.hasPrefix("{") || start.hasPrefix("[") { return .json }
    return start.hasPrefix("-----begin ") ? .pem : .text
  }
}

extension FirmwareImage {
  /// The kind of content, if a plain image is not firmware; `nil` if it may be firmware. An image
  /// with a descriptor or in the format of a bootloader is firmware, regardless of its first bytes.
  public var foreignContent: ForeignContent? {
    guard content == .plain else { return nil }
    do throws(FirmwareFault) {
      if try ImageDescriptor.find(in: bytes) != nil { return nil }
    } catch {
      return nil
    }
    return ForeignContent(of: bytes)
  }
}
