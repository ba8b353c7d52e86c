/// The stable names of everything that can go wrong; otaflash(1) lists them all.
enum FaultCode: String, CaseIterable, Sendable {
  case bug = "E-BUG"
  // What the user gave.
  case usage = "E-USAGE"
  case image = "E-IMAGE"
  case file = "E-FILE"
  case signature = "E-SIGNATURE"
  case otherSigner = "E-OTHER-SIGNER"
  case keyFile = "E-KEY-FILE"
  case keyFileExposed = "E-KEY-FILE-EXPOSED"
  // Refused before a byte was written.
  case wrongHardware = "E-WRONG-HARDWARE"
  case doesNotFit = "E-DOES-NOT-FIT"
  case downgrade = "E-DOWNGRADE"
  case versionUnknown = "E-VERSION-UNKNOWN"
  case hardwareUnknown = "E-HARDWARE-UNKNOWN"
  case imageNotTaken = "E-IMAGE-NOT-TAKEN"
  case protocolAmbiguous = "E-PROTOCOL-AMBIGUOUS"
  // The device's answers.
  case deviceRefused = "E-DEVICE-REFUSED"
  case authorizationRequired = "E-AUTHORIZATION-REQUIRED"
  case wrongKey = "E-WRONG-KEY"
  case deviceLocked = "E-DEVICE-LOCKED"
  case deviceFlashFault = "E-DEVICE-FLASH-FAULT"
  case noUpdateService = "E-NO-UPDATE-SERVICE"
  case protocolVersion = "E-PROTOCOL-VERSION"
  case imageRejected = "E-IMAGE-REJECTED"
  case reverted = "E-REVERTED"
  case oldVersionRuns = "E-OLD-VERSION-RUNS"
  case differentImageRuns = "E-DIFFERENT-IMAGE-RUNS"
  case unreachableAfterActivation = "E-UNREACHABLE-AFTER-ACTIVATION"
  // The transfer and the link.
  case blockKeepsFailing = "E-BLOCK-KEEPS-FAILING"
  case stalled = "E-STALLED"
  case noProgress = "E-NO-PROGRESS"
  case linkLost = "E-LINK-LOST"
  case protocolViolation = "E-PROTOCOL-VIOLATION"
  case timeLimit = "E-TIME-LIMIT"
  case interrupted = "E-INTERRUPTED"
  // Finding and reaching the device.
  case noAdapter = "E-NO-ADAPTER"
  case deviceNotFound = "E-DEVICE-NOT-FOUND"
  case deviceAmbiguous = "E-DEVICE-AMBIGUOUS"
  case deviceBusy = "E-DEVICE-BUSY"
  case permission = "E-PERMISSION"
  case systemCall = "E-SYSTEM-CALL"
  // A benchmark against an earlier one.
  case baseline = "E-BASELINE"
  case belowBaseline = "E-BELOW-BASELINE"
  // Our own side.
  case state = "E-STATE"
  case output = "E-OUTPUT"
}
