/// The host's side of the OTA service.
func fuzzOTAUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "fast?slot=16K&boot=1ms", "fast?slot=16K&boot=1ms&trial=yes", "fast?slot=16K&ring=2K&mtu=23",
    ], input)
}
