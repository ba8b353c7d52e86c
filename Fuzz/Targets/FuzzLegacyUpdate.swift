/// The host's side of legacy DFU: the start of the bootloader, and the bootloader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLegacyUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "nordic-legacy?erase=0&write=0&slot=16K", "infinitime?erase=0&write=0&slot=16K",
      "nordic-legacy?erase=0&write=0&slot=16K&entry=button",
    ], inputBytes(data, size))
  return 0
}
