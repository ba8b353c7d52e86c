import OtaflashFirmware

/// Any file is a UF2 file whose image is within the limit and not shorter than its data, or is
/// rejected.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzUF2(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let limit = 1 << 16
  do throws(UF2Fault) {
    let file = try UF2File(decoding: inputBytes(data, size), spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    _ = error.description
  }
  return 0
}
