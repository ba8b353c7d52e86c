import OtaflashFirmware

/// Decodes the bytes of a firmware file, and prints the images in it.
public func images(in file: [UInt8], named name: String) throws(FirmwareFault) -> [FirmwareImage] {
  let package = try FirmwarePackage.decode(name: name, bytes: file)
  for image in package.parts { print("\(image.name): \(image.bytes.count) bytes") }
  return package.parts
}
