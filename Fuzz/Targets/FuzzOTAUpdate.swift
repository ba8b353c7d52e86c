/// The host's side of the OTA service.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOTAUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "fast?slot=16K&boot=1ms", "fast?slot=16K&boot=1ms&trial=yes", "fast?slot=16K&ring=2K&mtu=23",
    ], inputBytes(data, size))
  return 0
}
