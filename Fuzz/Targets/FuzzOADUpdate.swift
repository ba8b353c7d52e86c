/// The host's side of TI's OAD, for both generations and for small blocks.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOADUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "ti-oad?erase=0&write=0&slot=16K", "ti-oad-mcuboot?erase=0&write=0&slot=16K",
      "ti-oad?erase=0&write=0&slot=16K&mtu=65&memory=2",
    ], inputBytes(data, size))
  return 0
}
