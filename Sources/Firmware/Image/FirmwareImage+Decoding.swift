extension FirmwareImage {
  /// The default limit of a file's size, and of the span of its addresses, in bytes (64 MiB).
  public static let defaultLimit = 64 << 20

  /// Decodes a file that contains one image and is not an archive.
  init(
    decoding file: [UInt8], name: String, claims: IdentityClaims, place: MCUbootPlace,
    in window: AddressedMemory.Window
  ) throws(FirmwareFault) {
    let (format, bytes, layout): (Format, [UInt8], AddressLayout?)
    let content: Content
    if let found = try Self.microbit(name: name, file: file, in: window) {
      (format, bytes, layout) = (.intelHex, found.image.primary.application, found.layout)
      content = .microbit(found.image)
    } else {
      (format, bytes, layout) = try Self.memory(name: name, file: file, in: window)
      content = try Self.content(of: bytes, at: place)
    }
    var header: FirmwareVersion?
    var stated: FirmwareVersion?
    switch content {
    case .mcuboot(let image, _): header = image.version.firmwareVersion
    case .esp(let image): stated = image.application.version
    case .suota(let image): stated = image.version
    case .oad(let image): stated = image.softwareVersion.version
    case .plain, .nordic, .gbl, .telink, .microbit: break
    }
    let identity = try claims.settled(for: bytes, header: header)
    self.init(
      name: name, format: format, bytes: bytes, version: identity.version ?? stated,
      hardware: identity.hardware, layout: layout, content: content)
  }

  /// Decodes the structure of an image, which its first bytes identify.
  private static func content(
    of bytes: [UInt8], at place: MCUbootPlace
  ) throws(FirmwareFault) -> Content {
    if MCUbootHeader.begins(bytes) {
      do throws(MCUbootFault) {
        return .mcuboot(try MCUbootImage(decoding: bytes), place: place)
      } catch {
        throw .mcuboot(error)
      }
    }
    if TelinkImage.begins(bytes) {
      do throws(TelinkImageFault) { return .telink(try TelinkImage(decoding: bytes)) } catch {
        throw .telink(error)
      }
    }
    if GBLFile.begins(bytes) {
      do throws(GBLFault) { return .gbl(try GBLFile(decoding: bytes)) } catch { throw .gbl(error) }
    }
    do throws(SUOTAImageFault) {
      try SUOTAFlashFile.check(bytes)
      if SUOTAImage.begins(bytes[...]) { return .suota(try SUOTAImage(decoding: bytes)) }
    } catch {
      throw .suota(error)
    }
    if OADImage.begins(bytes) {
      do throws(OADImageFault) { return .oad(try OADImage(decoding: bytes)) } catch {
        throw .oad(error)
      }
    }
    return try esp(bytes).map { .esp($0) } ?? .plain
  }

  /// Decodes an image for an ESP32; returns `nil` for other content.
  private static func esp(_ bytes: [UInt8]) throws(FirmwareFault) -> ESPImage? {
    do throws(ESPFault) {
      try ESPProgram.checkCompleteFlash(bytes)
      return ESPImage.begins(bytes) ? try ESPImage(decoding: bytes) : nil
    } catch {
      throw .esp(error)
    }
  }

  /// Finds the programs of a HEX file for the micro:bit; returns `nil` for any other file.
  private static func microbit(
    name: String, file: [UInt8], in window: AddressedMemory.Window
  ) throws(FirmwareFault) -> (image: MicrobitImage, layout: AddressLayout)? {
    guard window.region == nil, FirmwareFault.ForeignFormat(of: file, name: name) == nil,
      Format(of: file, name: name) == .intelHex
    else { return nil }
    do throws(TextFault<IntelHexFault>) { return try MicrobitImage.find(in: file) } catch {
      throw error.addresses.map(FirmwareFault.addresses) ?? .malformed(.intelHex(error))
    }
  }

  private static func memory(
    name: String, file: [UInt8], in window: AddressedMemory.Window
  ) throws(FirmwareFault) -> (Format, [UInt8], AddressLayout?) {
    if let format = FirmwareFault.ForeignFormat(of: file, name: name) {
      throw .foreignFormat(format)
    }
    let format = Format(of: file, name: name)
    if format == .elf {
      do throws(ESPFault) { try ESPProgram.checkELF(file) } catch { throw .esp(error) }
    }
    guard let decode = format.row.decode else {
      guard window.region == nil else { throw .addresses(.noAddresses) }
      return (format, file, nil)
    }
    let (bytes, layout) = try decode(file, window)
    return (format, bytes, layout)
  }
}

extension FirmwareFault.ForeignFormat {
  /// Recognizes the format by the first bytes and, for UTF-16, also by the name or the first line.
  /// Returns `nil` for other files.
  init?(of bytes: [UInt8], name: String) {
    if bytes.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
      self = .emptyZip
    } else if TextPrefix.isUTF16(bytes),
      FirmwareImage.Format(text: bytes, name: name) != nil
    {
      self = .utf16
    } else {
      return nil
    }
  }
}
