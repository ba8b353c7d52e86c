/// The host's side of Silicon Labs' OTA: the application, the loader, and application OTA.
func fuzzSilabsUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "silabs?erase=0&write=0&slot=16K", "silabs-app-ota?erase=0&write=0&slot=16K",
      "silabs?erase=0&write=0&slot=16K&start=loader&service=other",
    ], input)
}
