/// The state that an update over SMP retains from one connection to the next.
struct SMPRetained: RetainedValue {
  /// Whether the server supports the command that marks images.
  var stateWrite = SMPFacts.StateWriteSupport.unknown
  /// The name that was set for the firmware loader; `nil` if no name was set.
  var loaderName: SMPFirmwareLoader.Name?
}
