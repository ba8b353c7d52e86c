extension FirmwareImage {
  /// The largest file, and the largest span of a file's addresses, in bytes (64 MiB).
  public static let defaultLimit = 64 << 20

  /// Reads the content of an image file, whose format is found out from it. A file whose name ends
  /// in `.hex`, `.ihex` or `.ihx` must be Intel HEX, one in `.srec`, `.s19`, `.s28`, `.s37` or
  /// `.mot` Motorola S-records; any other is when it begins with a line of text that starts with
  /// `:` or with `S` and a digit, and a raw binary unless its first bytes are those of a UF2 or ELF
  /// file or of a ZIP archive. Of an archive there must be one image in it.
  /// - Parameters:
  ///   - name: the file's last path component, or `-`.
  ///   - bytes: the whole file.
  ///   - sidecar: what the file `<name>.json` says.
  ///   - overrides: what the user says; it wins.
  ///   - region: the addresses that are wanted; `nil` for all but what `KnownRegion.all` lists.
  ///   - limit: in bytes, for the file and for the image made of it.
  public static func decode(
    name: String, bytes: [UInt8], sidecar: ImageIdentity? = nil,
    overrides: ImageIdentity = ImageIdentity(), region: AddressRegion? = nil,
    limit: Int = defaultLimit
  ) throws(FirmwareFault) -> FirmwareImage {
    try FirmwarePackage.decode(
      name: name, bytes: bytes, sidecar: sidecar, overrides: overrides, region: region, limit: limit
    ).onlyImage()
  }

  /// Reads a file that holds one image and is no archive.
  init(
    decoding file: [UInt8], name: String, claims: IdentityClaims, place: MCUbootPlace,
    in window: AddressedMemory.Window
  ) throws(FirmwareFault) {
    let (format, bytes, layout) = try Self.memory(name: name, file: file, in: window)
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
    name: String, file: [UInt8], in window: AddressedMemory.Window
  ) throws(FirmwareFault) -> (Format, [UInt8], AddressLayout?) {
    let (limit, region) = (window.spanLimit, window.region)
    if let format = FirmwareFault.ForeignFormat(of: file, name: name) {
      throw .foreignFormat(format)
    }
    if file.starts(with: ELFFile.magic) {
      do throws(ELFFault) {
        let program = try ELFFile(decoding: file, spanLimit: limit, region: region)
        return (.elf, program.bytes, program.layout)
      } catch {
        if case .addresses(let fault) = error { throw .addresses(fault) }
        throw .elf(error)
      }
    }
    if file.starts(with: UF2File.magic) {
      do throws(UF2Fault) {
        let blocks = try UF2File(decoding: file, spanLimit: limit, region: region)
        return (.uf2, blocks.bytes, blocks.layout)
      } catch {
        if case .addresses(let fault) = error { throw .addresses(fault) }
        throw .uf2(error)
      }
    }
    switch TextFormat(name: name, file: file) {
    case .intelHex:
      let text = try IntelHexFile(decoding: file, spanLimit: limit, region: region)
      return (.intelHex, text.bytes, text.layout)
    case .sRecord:
      let text = try SRecordFile(decoding: file, spanLimit: limit, region: region)
      return (.sRecord, text.bytes, text.layout)
    case nil:
      guard region == nil else { throw .addresses(.noAddresses) }
      return (.binary, file, nil)
    }
  }
}

extension FirmwareFault.ForeignFormat {
  /// Known by its first bytes.
  init?(of bytes: [UInt8], name: String) {
    if bytes.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
      self = .emptyZip
    } else if TextFormat.isUTF16(bytes), TextFormat(name: name, file: bytes) != nil {
      self = .utf16
    } else {
      return nil
    }
  }
}
