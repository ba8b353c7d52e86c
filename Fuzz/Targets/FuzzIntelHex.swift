import OtaflashFirmware

/// Any text is an Intel HEX file whose image is within the limit and not shorter than its data, or
/// is rejected with the line of the error.
func fuzzIntelHex(_ input: [UInt8]) {
  do throws(TextFault<IntelHexFault>) {
    let limit = 1 << 16
    let file = try IntelHexFile(decoding: input, spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    return
  }
}
