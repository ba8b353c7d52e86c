import OtaflashFirmware

/// Any text is a file of S-records whose image is within the limit and not shorter than its data,
/// or is rejected with the line of the error.
func fuzzSRecord(_ input: [UInt8]) {
  do throws(TextFault<SRecordFault>) {
    let limit = 1 << 16
    let file = try SRecordFile(decoding: input, spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    _ = error.description
  }
}
