import OtaflashDevices

/// The general explanation of a fault code. `explain` prints it, docs/troubleshooting.md is
/// generated from it, and otaflash(1) is compared with it.
struct FaultExplanation: Equatable, Sendable {
  /// The meaning of the code: a clause in lower case, without a full stop.
  let meaning: String
  /// The causes, the most likely first: sentences, with commands between backticks.
  let causes: String
  /// The remedy: sentences, with commands between backticks.
  let remedy: String

  init(_ meaning: String, causes: String, remedy: String) {
    self.meaning = meaning
    self.causes = causes
    self.remedy = remedy
  }
}

extension FaultCode {
  /// The explanation. The switch is exhaustive, so that each new code needs one.
  var explanation: FaultExplanation {
    switch self {
    case .bug: .bug
    case .usage: .usage
    case .image: .image
    case .file: .file
    case .signature: .signature
    case .otherSigner: .otherSigner
    case .keyFile: .keyFile
    case .keyFileExposed: .keyFileExposed
    case .wrongHardware: .wrongHardware
    case .doesNotFit: .doesNotFit
    case .downgrade: .downgrade
    case .versionUnknown: .versionUnknown
    case .hardwareUnknown: .hardwareUnknown
    case .imageNotTaken: .imageNotTaken
    case .protocolAmbiguous: .protocolAmbiguous
    case .noPatch: .noPatch
    case .deviceRefused: .deviceRefused
    case .authorizationRequired: .authorizationRequired
    case .wrongKey: .wrongKey
    case .deviceLocked: .deviceLocked
    case .deviceFlashFault: .deviceFlashFault
    case .noUpdateService: .noUpdateService
    case .protocolVersion: .protocolVersion
    case .imageRejected: .imageRejected
    case .reverted: .reverted
    case .oldVersionRuns: .oldVersionRuns
    case .differentImageRuns: .differentImageRuns
    case .unreachableAfterActivation: .unreachableAfterActivation
    case .blockKeepsFailing: .blockKeepsFailing
    case .stalled: .stalled
    case .noProgress: .noProgress
    case .linkLost: .linkLost
    case .protocolViolation: .protocolViolation
    case .timeLimit: .timeLimit
    case .interrupted: .interrupted
    case .noAdapter: .noAdapter
    case .deviceNotFound: .deviceNotFound
    case .deviceAmbiguous: .deviceAmbiguous
    case .deviceBusy: .deviceBusy
    case .permission: .permission
    case .notPaired: .notPaired
    case .pairingFailed: .pairingFailed
    case .bondForgotten: .bondForgotten
    case .systemCall: .systemCall
    case .baseline: .baseline
    case .belowBaseline: .belowBaseline
    case .campaign: .campaign
    case .fleetRun: .fleetRun
    case .fleetRunHeld: .fleetRunHeld
    case .fleetRequest: .fleetRequest
    case .fleetPaused: .fleetPaused
    case .fleetChain: .fleetChain
    case .fleetStore: .fleetStore
    case .selfTest: .selfTest
    case .state: .state
    case .output: .output
    }
  }
}
