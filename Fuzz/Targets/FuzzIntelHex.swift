import OtaflashFirmware

/// Any text is an Intel HEX file whose image is within the limit and not shorter than its data, or
/// is rejected with the line of the error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIntelHex(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  do throws(TextFault<IntelHexFault>) {
    let limit = 1 << 16
    let file = try IntelHexFile(decoding: inputBytes(data, size), spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    return 0
  }
  return 0
}
