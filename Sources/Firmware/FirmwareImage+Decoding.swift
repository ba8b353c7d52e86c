extension FirmwareImage {
  /// The largest file, and the largest span of a HEX file's addresses, in bytes (64 MiB).
  public static let defaultLimit = 64 << 20

  /// Reads the content of an image file, whose format is found out from it. A file whose name ends
  /// in `.hex`, `.ihex` or `.ihx` must be Intel HEX; any other is when it begins with a line of
  /// text that starts with `:`, and a raw binary unless its first bytes are those of a UF2 or ELF
  /// file or of a ZIP archive. Of an archive there must be one image in it.
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - sidecar: what the file `<name>.json` says.
  ///   - overrides: what the user says; it wins.
  ///   - limit: in bytes, for the file and for the image made of it.
  public static func decode(
    name: String, bytes: [UInt8], sidecar: ImageIdentity? = nil,
    overrides: ImageIdentity = ImageIdentity(), limit: Int = defaultLimit
  ) throws(FirmwareFault) -> FirmwareImage {
    try FirmwarePackage.decode(
      name: name, bytes: bytes, sidecar: sidecar, overrides: overrides, limit: limit
    ).onlyImage()
  }

  /// Reads a file that holds one image and is no archive.
  init(
    decoding file: [UInt8], name: String, claims: IdentityClaims, limit: Int, place: MCUbootPlace
  ) throws(FirmwareFault) {
    let (format, bytes, layout) = try Self.memory(name: name, file: file, limit: limit)
    var content = Content.plain
    if MCUbootHeader.begins(bytes) {
      do throws(MCUbootFault) {
        content = .mcuboot(try MCUbootImage(decoding: bytes), place: place)
      } catch {
        throw .mcuboot(error)
      }
    }
    var header: FirmwareVersion?
    if case .mcuboot(let image, _) = content { header = image.version.firmwareVersion }
    let identity = try claims.settled(for: bytes, header: header)
    self.init(
      name: name, format: format, bytes: bytes, version: identity.version,
      hardware: identity.hardware, layout: layout, content: content)
  }

  private static func memory(
    name: String, file: [UInt8], limit: Int
  ) throws(FirmwareFault) -> (Format, [UInt8], AddressLayout?) {
    if let format = FirmwareFault.ForeignFormat(of: file) { throw .foreignFormat(format) }
    if file.starts(with: ELFFile.magic) {
      do throws(ELFFault) {
        let program = try ELFFile(decoding: file, spanLimit: limit)
        return (.elf, program.bytes, program.layout)
      } catch {
        throw .elf(error)
      }
    }
    if file.starts(with: UF2File.magic) {
      do throws(UF2Fault) {
        let blocks = try UF2File(decoding: file, spanLimit: limit)
        return (.uf2, blocks.bytes, blocks.layout)
      } catch {
        throw .uf2(error)
      }
    }
    guard isNamedIntelHex(name) || isIntelHex(file) else { return (.binary, file, nil) }
    let text = try IntelHexFile(decoding: file, spanLimit: limit)
    return (.intelHex, text.bytes, text.layout)
  }

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
    if bytes.count >= 10, bytes[0] == UInt8(ascii: "S"), digits.contains(bytes[1]),
      bytes[2..<10].allSatisfy({ $0.hexadecimalDigit != nil })
    {
      self = .motorolaSRecord
    } else if bytes.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
      self = .emptyZip
    } else {
      return nil
    }
  }
}
