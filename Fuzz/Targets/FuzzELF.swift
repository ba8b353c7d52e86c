import OtaflashFirmware

/// Any file is an ELF program whose image is within the limit and not shorter than its data, or is
/// rejected.
func fuzzELF(_ input: [UInt8]) {
  let limit = 1 << 16
  do throws(ELFFault) {
    let file = try ELFFile(decoding: input, spanLimit: limit)
    precondition(file.bytes.count <= limit && file.layout.dataCount <= file.bytes.count)
  } catch {
    _ = error.description
  }
}
