/// The host's side of SMP: the first requests, the upload, trial and confirmation.
func fuzzSMPUpdate(_ input: [UInt8]) {
  fuzzUpdate(
    of: [
      "smp?erase=0&write=0&slot=16K", "smp?erase=0&write=0&slot=16K&mode=overwrite",
      "smp?erase=0&write=0&slot=16K&netbufs=4x384&reassembly=no&mtu=247",
      "smp?erase=0&write=0&slot=16K&params=no&bootinfo=no&check=no",
      "smp?erase=0&write=0&slot=16K&v1=yes", "smp?erase=0&write=0&slot=16K&mode=direct-xip",
    ], input)
}
