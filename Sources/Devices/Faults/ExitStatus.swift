/// The exit status of the process. Numbers follow sysexits(3) where possible.
package enum ExitStatus: Hashable, Sendable {
  case done
  case bug
  /// Some devices of a campaign failed.
  case someFailed
  /// A campaign stopped, and the remaining devices are on hold.
  case fleetStopped
  case refusedBeforeWriting
  case rejectedByDevice
  case belowBaseline
  case usage
  case malformedInput
  case missingInput
  case deviceUnavailable
  case selfTestFailed
  case systemCall
  case outputFailed
  case linkLost
  case linkLostResumable
  case protocolBroken
  case permissionDenied
  case configuration
  case signal(Int32)

  package var code: Int32 {
    switch self {
    case .done: 0
    case .bug: 1
    case .someFailed: 3
    case .fleetStopped: 4
    case .refusedBeforeWriting: 5
    case .rejectedByDevice: 6
    case .belowBaseline: 7
    case .usage: 64
    case .malformedInput: 65
    case .missingInput: 66
    case .deviceUnavailable: 69
    case .selfTestFailed: 70
    case .systemCall: 71
    case .outputFailed: 73
    case .linkLost: 74
    case .linkLostResumable: 75
    case .protocolBroken: 76
    case .permissionDenied: 77
    case .configuration: 78
    case .signal(let number): 128 + number
    }
  }
}
