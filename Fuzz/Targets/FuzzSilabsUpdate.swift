/// The host's side of Silicon Labs' OTA: the application, the loader, and application OTA.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSilabsUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "silabs?erase=0&write=0&slot=16K", "silabs-app-ota?erase=0&write=0&slot=16K",
      "silabs?erase=0&write=0&slot=16K&start=loader&service=other",
    ], inputBytes(data, size))
  return 0
}
