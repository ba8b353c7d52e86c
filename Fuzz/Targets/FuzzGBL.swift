import OtaflashFirmware

/// Any file is a GBL file, or is rejected; all tags are within the file, one after the other.
func fuzzGBL(_ bytes: [UInt8]) {
  do throws(GBLFault) {
    let file = try GBLFile(decoding: bytes)
    var end = 0
    for tag in file.tags {
      precondition(tag.offset == end && tag.payload.lowerBound == end + 8)
      end = tag.payload.upperBound
    }
    precondition(end == bytes.count && file.tags.last?.kind == .end)
  } catch {
    precondition((0...max(bytes.count, 12)).contains(error.offset))
    _ = error.description
  }
}
