/// The host's side of partial flashing of the micro:bit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMicrobitUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "microbit?erase=0&write=0", "microbit-v1?erase=0&write=0",
      "microbit?erase=0&write=0&editor=python&bluetooth=no", "calliope?erase=0&write=0",
    ], inputBytes(data, size))
  return 0
}
