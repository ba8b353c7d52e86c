import OtaflashFirmware

/// The decoder of images for chips of Renesas. The input is also tried with the header of each
/// family, so that the checks after the recognition are reached.
func fuzzSUOTAImage(_ bytes: [UInt8]) {
  check(bytes)
  guard let first = bytes.first else { return }
  let chip = SUOTAImage.Chip.allCases[Int(first) % SUOTAImage.Chip.allCases.count]
  var marked = bytes
  marked.replaceSubrange(0..<min(2, bytes.count), with: chip.signature)
  let version = chip == .da1469x ? 10 : 12
  if marked.count >= version + 2 {
    marked.replaceSubrange(version..<version + 2, with: [0x31, 0])
  }
  check(marked)
}

private func check(_ bytes: [UInt8]) {
  do throws(FirmwareFault) {
    let image = try FirmwareImage.decode(name: "app.img", bytes: bytes)
    guard let header = image.suota else { return }
    precondition(header.codeOffset + header.codeSize == image.bytes.count)
    precondition(!header.versionText.isEmpty)
  } catch {
    precondition(!error.description.isEmpty)
  }
}
