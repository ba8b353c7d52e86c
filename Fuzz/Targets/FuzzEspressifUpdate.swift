/// The host's side of Espressif's OTA service: the five implementations.
func fuzzEspressifUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: ["esp-nimble", "esp-bluedroid", "esp-raw", "esp-nimbleota", "esp-bleota"].map {
      $0 + "?erase=0&write=0&slot=16K"
    }, input)
}
