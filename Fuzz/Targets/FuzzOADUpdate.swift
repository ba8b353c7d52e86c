/// The host's side of TI's OAD, for both generations and for small blocks.
func fuzzOADUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "ti-oad?erase=0&write=0&slot=16K", "ti-oad-mcuboot?erase=0&write=0&slot=16K",
      "ti-oad?erase=0&write=0&slot=16K&mtu=65&memory=2",
    ], input)
}
