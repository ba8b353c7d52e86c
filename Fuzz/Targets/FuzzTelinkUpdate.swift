/// The host's side of Telink's OTA service, with long and with short packets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTelinkUpdate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  fuzzUpdate(
    of: [
      "telink?erase=0&write=0&slot=16K", "telink-legacy?erase=0&write=0&slot=16K",
      "telink?erase=0&write=0&slot=16K&schedule=pdus&reversed=yes",
    ], inputBytes(data, size))
  return 0
}
