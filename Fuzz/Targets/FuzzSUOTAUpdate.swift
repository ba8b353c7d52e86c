/// The host's side of SUOTA, with both receivers.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSUOTAUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "suota?erase=0&write=0&slot=16K", "suota-da1453x?erase=0&write=0&slot=16K",
      "suota?erase=0&write=0&slot=16K&chip=da1468x&sizes=no",
    ], inputBytes(data, size))
  return 0
}
