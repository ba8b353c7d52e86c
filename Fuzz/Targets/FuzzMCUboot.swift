import OtaflashFirmware

/// Any file is an MCUboot image, or is rejected; all parts are within the file.
func fuzzMCUboot(_ bytes: [UInt8]) {
  do throws(MCUbootFault) {
    let image = try MCUbootImage(decoding: bytes)
    precondition(image.coveredSize < image.size && image.size <= bytes.count)
    for entry in image.protectedEntries + image.entries {
      let end = entry.offset + 4 + entry.value.count
      precondition(end <= image.size && bytes[entry.offset + 4..<end].elementsEqual(entry.value))
    }
    _ = image.dependencies.map(\.version.description)
    precondition(MCUbootVersion(image.version.description) == image.version)
  } catch {
    precondition((0...max(bytes.count, 32)).contains(error.offset))
  }
}
