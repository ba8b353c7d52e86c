/// The host's side of legacy DFU: the start of the bootloader, and the bootloader.
func fuzzLegacyUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "nordic-legacy?erase=0&write=0&slot=16K", "infinitime?erase=0&write=0&slot=16K",
      "nordic-legacy?erase=0&write=0&slot=16K&entry=button",
    ], input)
}
