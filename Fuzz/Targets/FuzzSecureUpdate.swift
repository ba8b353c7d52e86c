/// The host's side of Secure DFU: the buttonless services and the bootloader.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSecureUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "nordic-dfu?erase=0&write=0&slot=16K", "nordic-dfu?erase=0&write=0&slot=16K&entry=button",
      "nordic-dfu?erase=0&write=0&slot=16K&entry=experimental&mtu=23",
      "nordic-dfu?erase=0&write=0&slot=16K&entry=bonded&information=no",
    ], inputBytes(data, size))
  return 0
}
