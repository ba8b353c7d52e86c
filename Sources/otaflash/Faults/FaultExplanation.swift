import OtaflashDevices

/// A fault code in general, whatever the run: `explain` prints it, docs/troubleshooting.md is made
/// of it, and otaflash(1) is compared with it.
struct FaultExplanation: Equatable, Sendable {
  /// What the code says: the end of a sentence, without a full stop.
  let meaning: String
  /// What leads to it, the likeliest first: sentences, with commands between backticks.
  let causes: String
  /// What to do: sentences, with commands between backticks.
  let remedy: String

  init(_ meaning: String, causes: String, remedy: String) {
    self.meaning = meaning
    self.causes = causes
    self.remedy = remedy
  }
}

extension FaultCode {
  /// A full switch: a new code does not compile before it is explained.
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
