/// The state that an update of a micro:bit retains from one connection to the next.
struct MicrobitRetained: RetainedValue {
  /// The mode before the update.
  var modeBefore: MicrobitMode?
  /// The hash of the runtime, once the device has accepted a transfer: if power fails while the
  /// first page of a script is erased, the device cannot report the hash any more.
  var runtimeHash: [UInt8]?
}
