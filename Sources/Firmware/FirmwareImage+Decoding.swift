extension FirmwareImage {
  /// The largest file, and the largest span of a HEX file's addresses, in bytes (64 MiB).
  public static let defaultLimit = 64 << 20

  /// Reads the content of an image file, whose format is found out from it. A file whose name ends
  /// in `.hex`, `.ihex` or `.ihx` must be Intel HEX; any other is when it begins with a line of
  /// text that starts with `:`, and a raw binary otherwise.
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - sidecar: what the file `<name>.json` says.
  ///   - overrides: what the user says; it wins.
  ///   - limit: in bytes, for the file and for the image made of it.
  public static func decode(
    name: String, bytes: [UInt8], sidecar: ImageIdentity? = nil,
    overrides: ImageIdentity = ImageIdentity(), limit: Int = defaultLimit
  ) throws(FirmwareFault) -> FirmwareImage {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    let file = try content(name: name, bytes: bytes, limit: limit)
    let identity = try ImageIdentity.settled(
      image: file.bytes, sidecar: sidecar, overrides: overrides)
    return FirmwareImage(
      name: name, format: file.layout == nil ? .binary : .intelHex, bytes: file.bytes,
      version: identity.version, hardware: identity.hardware, layout: file.layout)
  }

  private static func content(
    name: String, bytes: [UInt8], limit: Int
  ) throws(FirmwareFault) -> (bytes: [UInt8], layout: IntelHexLayout?) {
    if let format = ForeignFormat(of: bytes) { throw .foreignFormat(format) }
    guard isNamedIntelHex(name) || isIntelHex(bytes) else { return (bytes, nil) }
    let file = try IntelHexFile(decoding: bytes, spanLimit: limit)
    return (file.bytes, file.layout)
  }

  private typealias ForeignFormat = FirmwareFault.ForeignFormat

  private static func isNamedIntelHex(_ name: String) -> Bool {
    let name = name.lowercased()
    return [".hex", ".ihex", ".ihx"].contains { name.hasSuffix($0) }
  }

  /// A longer first line than the longest record (521 characters) is no text.
  private static let firstLineLimit = 1024

  /// Of UTF-8: not allowed in HEX, but a sign of text.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Only text counts, not well-formed text: a HEX file with a damaged first line must be refused
  /// as one and never be sent as a binary.
  private static func isIntelHex(_ bytes: [UInt8]) -> Bool {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    let blanks = lineEnds + [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let mark = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    let text = bytes.prefix(firstLineLimit).dropFirst(mark).drop { blanks.contains($0) }
    guard text.first == UInt8(ascii: ":") else { return false }
    let line = text.prefix { !lineEnds.contains($0) }
    return line.allSatisfy { (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\t") }
  }
}

extension FirmwareFault.ForeignFormat {
  /// Known by its first bytes.
  init?(of bytes: [UInt8]) {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    if bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) {
      self = .elf
    } else if bytes.starts(with: Array("UF2\n".utf8)) {
      self = .uf2
    } else if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      self = .zip
    } else if bytes.count >= 10, bytes[0] == UInt8(ascii: "S"), digits.contains(bytes[1]),
      bytes[2..<10].allSatisfy({ $0.hexadecimalDigit != nil })
    {
      self = .motorolaSRecord
    } else {
      return nil
    }
  }
}
