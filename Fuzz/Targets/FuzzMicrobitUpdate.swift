/// The host's side of partial flashing of the micro:bit.
func fuzzMicrobitUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "microbit?erase=0&write=0", "microbit-v1?erase=0&write=0",
      "microbit?erase=0&write=0&editor=python&bluetooth=no", "calliope?erase=0&write=0",
      "microbit-v1?erase=0&write=0&runtime=other",
    ], input)
}
