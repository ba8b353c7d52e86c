/// What an update over the OTA service retains from one connection to the next.
struct OTARetained: RetainedValue {
  /// What was sent last.
  var sent: OTASent?
  /// How much of it was in the device's flash when all of it was sent, in bytes.
  var durable = 0
  /// Why patches were given up for this device.
  var patchesGivenUp: PatchObstacle?
  /// Bytes of data in a write at most: the device was seen not to take what its ATT_MTU promises.
  var chunkCeiling: Int?
  /// Bytes to send ahead of the last acknowledgement at most: a request after more of them was not
  /// answered in time.
  var windowCeiling: Int?
  /// The size of data writes that this update goes on with, and its ATT_MTU.
  var settledSize: (chunk: Int, mtu: Int)?
}
