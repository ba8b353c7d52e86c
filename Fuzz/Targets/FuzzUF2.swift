import OtaflashFirmware

/// Any file is a UF2 file whose image is within the limit and not shorter than its data, or is
/// rejected.
func fuzzUF2(_ input: [UInt8]) {
  let limit = 1 << 16
  do throws(UF2Fault) {
    let file = try UF2File(decoding: input, spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    _ = error.description
  }
}
