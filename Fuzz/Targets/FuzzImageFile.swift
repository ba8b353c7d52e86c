import OtaflashFirmware

/// Any file is an image, or is rejected; the encoding of a descriptor contains an equal descriptor.
func fuzzImageFile(_ bytes: [UInt8]) {
  do throws(FirmwareFault) {
    if let descriptor = try ImageDescriptor.find(in: bytes) {
      let again = try? ImageDescriptor.find(in: descriptor.encoded)
      precondition(again == descriptor)
    }
    let image = try FirmwareImage.decode(name: "-", bytes: bytes, limit: 1 << 16)
    precondition(image.bytes.count <= 1 << 16)
  } catch {
    return
  }
}
