import OtaflashFirmware

/// Any file is an image of ESP-IDF, another file, or is rejected; all segments are within the file.
func fuzzESPImage(_ bytes: [UInt8]) {
  do throws(ESPFault) {
    let image = try ESPImage(decoding: bytes)
    precondition(image.size <= bytes.count)
    for segment in image.segments {
      precondition(segment.offset >= 0 && segment.offset + segment.size <= image.size)
    }
    precondition(image.application.versionText.utf8.count <= 32)
    _ = image.application.version
  } catch {
    precondition(error.offset >= 0 && !error.description.isEmpty)
  }
  do throws(FirmwareFault) {
    _ = try FirmwareImage.decode(name: "image.bin", bytes: bytes).esp
  } catch {
    precondition(!error.description.isEmpty)
  }
}
