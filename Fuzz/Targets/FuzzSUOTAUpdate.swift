/// The host's side of SUOTA, with both receivers.
func fuzzSUOTAUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "suota?erase=0&write=0&slot=16K", "suota-da1453x?erase=0&write=0&slot=16K",
      "suota?erase=0&write=0&slot=16K&chip=da1468x&sizes=no",
    ], input)
}
