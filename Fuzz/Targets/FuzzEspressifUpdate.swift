/// The host's side of Espressif's OTA service: the five implementations.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEspressifUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: ["esp-nimble", "esp-bluedroid", "esp-raw", "esp-nimbleota", "esp-bleota"].map {
      $0 + "?erase=0&write=0&slot=16K"
    }, inputBytes(data, size))
  return 0
}
