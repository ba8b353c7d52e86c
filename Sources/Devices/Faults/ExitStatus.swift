/// The exit status of the process. Numbers follow sysexits(3) where possible.
package struct ExitStatus: Hashable, Sendable {
  package let code: Int32
  /// The signal that ended the run; `nil` if the run ended otherwise.
  package private(set) var signal: Int32?

  package static let done = ExitStatus(code: 0)
  package static let bug = ExitStatus(code: 1)
  /// Some devices of a campaign failed.
  package static let someFailed = ExitStatus(code: 3)
  /// A campaign stopped, and the remaining devices were not updated.
  package static let fleetStopped = ExitStatus(code: 4)
  package static let refusedBeforeWriting = ExitStatus(code: 5)
  package static let rejectedByDevice = ExitStatus(code: 6)
  package static let belowBaseline = ExitStatus(code: 7)
  /// The image was sent, and nothing shows that it runs.
  package static let notVerified = ExitStatus(code: 8)
  package static let usage = ExitStatus(code: 64)
  package static let malformedInput = ExitStatus(code: 65)
  package static let missingInput = ExitStatus(code: 66)
  package static let deviceUnavailable = ExitStatus(code: 69)
  package static let selfTestFailed = ExitStatus(code: 70)
  package static let systemCall = ExitStatus(code: 71)
  package static let outputFailed = ExitStatus(code: 73)
  package static let linkLost = ExitStatus(code: 74)
  package static let linkLostResumable = ExitStatus(code: 75)
  package static let protocolBroken = ExitStatus(code: 76)
  package static let permissionDenied = ExitStatus(code: 77)
  package static let configuration = ExitStatus(code: 78)

  package static func signal(_ number: Int32) -> ExitStatus {
    ExitStatus(code: 128 + number, signal: number)
  }
}
