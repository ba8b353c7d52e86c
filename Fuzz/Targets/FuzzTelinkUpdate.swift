/// The host's side of Telink's OTA service, with long and with short packets.
func fuzzTelinkUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "telink?erase=0&write=0&slot=16K", "telink-legacy?erase=0&write=0&slot=16K",
      "telink?erase=0&write=0&slot=16K&schedule=pdus&reversed=yes",
    ], input)
}
