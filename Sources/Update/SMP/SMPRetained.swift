/// What an update over SMP retains from one connection to the next.
struct SMPRetained: RetainedValue {
  /// Whether the server knows the command that marks images.
  var stateWrite = SMPFacts.StateWriteSupport.unknown
  /// The name that the firmware loader was given; `nil` if it was given none.
  var loaderName: SMPFirmwareLoader.Name?
}
