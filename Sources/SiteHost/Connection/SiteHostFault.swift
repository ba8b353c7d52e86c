#if Sites
import OtaflashDevices
import OtaflashNATS
import OtaflashSites

/// A fault of the coordinator, of a gateway, or of a command that uses the API of the coordinator.
package enum SiteHostFault: Error {
  case broker(NATSFault)
  case credentials(CredentialsFault)
  /// The credentials belong to a gateway instead of the coordinator, or to the coordinator instead
  /// of a gateway.
  case otherCredentials(path: String, isGateway: Bool)
  case leadership(LeadershipFault)
  case images(SiteImageFault)
  /// Gateways cannot run the campaign; `words` states the reason.
  case campaign(path: String, words: String)
  /// The event log of a run lacks an attempt of a device that the message broker has.
  case olderLog(run: String, device: String)
  /// The page cannot be served, or its accounts cannot be used; `words` is a clause.
  case page(words: String)
  /// The coordinator refused a request of a client; `words` is a clause.
  case refused(words: String)
  /// The coordinator did not respond to a client; `words` is a clause.
  case noAnswer(words: String)
  /// The file with a token cannot be used; `words` is a clause.
  case token(words: String)
}

extension CommandFault {
  package static func sites(_ fault: SiteHostFault) -> CommandFault { .campaign(fault) }
}

extension SiteHostFault: ReportedFault {
  package func report(in context: FaultContext) -> FaultReport {
    let credentials = "Create them with `otaflash-coordinator credentials`."
    return switch self {
    case .broker(let fault):
      FaultReport(
        .sites, "\(fault)", why: "No job is claimed or published.",
        help: "Check that the servers run, and that the credentials belong to this deployment.",
        exit: fault.isPermanent ? .permissionDenied : .deviceUnavailable)
    case .credentials(let fault):
      FaultReport(
        .sites, "\(fault)", why: "The message broker accepts only known keys.", help: credentials,
        exit: .configuration)
    case .otherCredentials(let path, let isGateway):
      FaultReport(
        .sites,
        "\(path) contains the credentials of \(isGateway ? "a gateway" : "the coordinator")",
        why: "A gateway may only read and write the entries of its site.", help: credentials,
        exit: .configuration)
    case .leadership(let fault):
      FaultReport(
        .sites, "\(fault)", why: "Two coordinators would publish jobs for the same devices.",
        help: "Run one coordinator for each deployment.")
    case .images(let fault):
      FaultReport(
        .sites, "\(fault)", why: "Gateways receive the images from the message broker.",
        help: "Check the disk of the servers and of this host.")
    case .campaign(let path, let words):
      FaultReport(
        .sites, "\(path): \(words)", why: "No run was started.",
        help: "otaflash-campaign(5) describes the keys of a campaign.", exit: .malformedInput)
    case .olderLog(let run, let device):
      FaultReport(
        .sites, "the event log of run \(run) is older than the job of \(device)",
        why: "The state directory was restored from a backup, but the message broker was not.",
        help: "docs/sites.md, Restore: empty the store of the servers, and start the coordinator.",
        exit: .configuration)
    case .page(let words):
      FaultReport(
        .sites, words, why: "The coordinator does not start without its page.",
        help: "otaflash-coordinator(1) describes the options of the page.", exit: .configuration)
    case .refused(let words):
      FaultReport(
        .sites, words, why: "The coordinator refused the request; nothing was changed.",
        help: "The page of the coordinator shows the state of the run.",
        exit: .refusedBeforeWriting)
    case .noAnswer(let words):
      FaultReport(
        .sites, words, why: "The request may have taken effect.",
        help: "Check the URL, and check the state of the run before you repeat the command.")
    case .token(let words):
      FaultReport(
        .sites, words, why: "The coordinator requires the token of an account.",
        help: "Create a token on the coordinator with `otaflash-coordinator accounts token`.",
        exit: .configuration)
    }
  }
}

extension NATSFault {
  /// Whether another attempt with the same credentials would also fail.
  package var isPermanent: Bool {
    switch self {
    case .credentials, .authenticationRefused, .untrusted, .invalidName, .notPermitted: true
    default: false
    }
  }
}
#endif
