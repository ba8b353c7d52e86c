import OtaflashFirmware

/// The decoder of images for Telink chips. The input is also tried with a mark and a correct
/// trailer, so that the checks after them are reached.
func fuzzTelinkImage(_ bytes: [UInt8]) {
  check(bytes)
  guard bytes.count >= TelinkImage.markOffset + TelinkImage.mark.count else { return }
  var marked = bytes
  let mark = TelinkImage.markOffset
  marked.replaceSubrange(mark..<mark + TelinkImage.mark.count, with: TelinkImage.mark)
  check(marked)
  let trailer = TelinkImage.checksum(of: marked)
  check(marked + (0..<4).map { UInt8(truncatingIfNeeded: trailer >> (8 * UInt32($0))) })
}

private func check(_ bytes: [UInt8]) {
  do throws(FirmwareFault) {
    let image = try FirmwareImage.decode(name: "app.bin", bytes: bytes)
    guard image.telink != nil else { return }
    precondition(image.bytes.count % 16 == 4 && TelinkImage.begins(image.bytes))
  } catch {
    precondition(!error.description.isEmpty)
  }
}
