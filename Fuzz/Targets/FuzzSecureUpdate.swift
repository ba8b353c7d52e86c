/// The host's side of Secure DFU: the buttonless services and the bootloader.
func fuzzSecureUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "nordic-dfu?erase=0&write=0&slot=16K", "nordic-dfu?erase=0&write=0&slot=16K&entry=button",
      "nordic-dfu?erase=0&write=0&slot=16K&entry=experimental&mtu=23",
      "nordic-dfu?erase=0&write=0&slot=16K&entry=bonded&information=no",
    ], input)
}
