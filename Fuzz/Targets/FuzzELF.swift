import OtaflashFirmware

/// Any file is an ELF program whose image is within the limit and not shorter than its data, or is
/// rejected.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzELF(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let limit = 1 << 16
  do throws(ELFFault) {
    let file = try ELFFile(decoding: inputBytes(data, size), spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    _ = error.description
  }
  return 0
}
