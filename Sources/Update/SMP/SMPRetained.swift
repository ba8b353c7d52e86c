/// The state that an update over SMP retains from one connection to the next.
struct SMPRetained: RetainedValue {
  /// Whether the server knows the command that marks images.
  var stateWrite = SMPFacts.StateWriteSupport.unknown
  /// The name that was set for the firmware loader; `nil` if none was set.
  var loaderName: SMPFirmwareLoader.Name?
}
