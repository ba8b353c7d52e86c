extension FirmwareImage {
  /// The default limit of a file's size, and of the span of its addresses, in bytes (64 MiB).
  public static let defaultLimit = 64 << 20

  /// Decodes a file with one image that is not an archive.
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
    } else if TelinkImage.begins(bytes) {
      do throws(TelinkImageFault) { content = .telink(try TelinkImage(decoding: bytes)) } catch {
        throw .telink(error)
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
    if let format = FirmwareFault.ForeignFormat(of: file, name: name) {
      throw .foreignFormat(format)
    }
    let format = Format(of: file, name: name)
    guard let decode = format.row.decode else {
      guard window.region == nil else { throw .addresses(.noAddresses) }
      return (format, file, nil)
    }
    let (bytes, layout) = try decode(file, window)
    return (format, bytes, layout)
  }
}

extension FirmwareFault.ForeignFormat {
  /// Recognizes the format by its first bytes.
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
