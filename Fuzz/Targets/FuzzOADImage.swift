import OtaflashFirmware

/// The decoder of images for TI's OAD. The input is also tried with a known identification and a
/// correct size and CRC32, so that the checks after them are reached.
func fuzzOADImage(_ bytes: [UInt8]) {
  check(bytes)
  guard bytes.count >= OADImage.coreSize else { return }
  var sealed = Array("CC26x2R1".utf8) + bytes.dropFirst(8)
  write(UInt32(sealed.count), to: &sealed, at: OADImage.lengthOffset)
  write(OADImage.checksum(of: sealed), to: &sealed, at: OADImage.crcOffset)
  check(sealed)
}

private func write(_ value: UInt32, to bytes: inout [UInt8], at offset: Int) {
  for index in 0..<4 {
    bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
  }
}

private func check(_ bytes: [UInt8]) {
  do throws(FirmwareFault) {
    let image = try FirmwareImage.decode(name: "app.bin", bytes: bytes)
    guard let oad = image.oad else { return }
    precondition((OADImage.coreSize...bytes.count).contains(oad.headerSize))
    precondition(oad.length == bytes.count && !"\(oad.type)".isEmpty)
    _ = OADSoftwareVersion(oad.softwareVersion.version).version
  } catch {
    precondition(!error.description.isEmpty)
  }
}
