import OtaflashFirmware

/// Any file is an image of ESP-IDF, another file, or is rejected; all segments are within the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzESPImage(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let bytes = inputBytes(data, size)
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
  return 0
}
