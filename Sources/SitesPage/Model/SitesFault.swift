#if Sites
import OtaflashFleet

/// The reason why the coordinator cannot answer a request or execute a command.
package enum SitesFault: Error, Hashable, Sendable {
  /// The store has no run with this name.
  case noRun(String)
  /// No run contains a device with this id.
  case noDevice(String)
  /// The command or campaign is not permitted in the current state; `words` is a clause.
  case refused(words: String)
  /// The campaign has mistakes; each mistake is a sentence with its location.
  case invalidCampaign([String])
  /// No process executed the command in time.
  case unanswered(run: String)
  /// A required service, such as the message broker, is not available.
  case unavailable(words: String)
  case storage(StorageFault)
}

extension SitesFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .noRun(let run): "there is no run '\(run)'"
    case .noDevice(let device): "no run has a device '\(device)'"
    case .refused(let words), .unavailable(let words): words
    case .invalidCampaign(let mistakes): mistakes.joined(separator: "; ")
    case .unanswered(let run):
      "the coordinator did not answer the command for run \(run) in time; the command may still be "
        + "executed; check the run before you repeat the command"
    case .storage(let fault): fault.words
    }
  }
}
#endif
