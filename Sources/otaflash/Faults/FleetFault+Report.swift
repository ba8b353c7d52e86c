#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

extension CommandFault {
  static func fleet(_ fault: FleetFault) -> CommandFault { .campaign(fault) }
}

extension FleetFault: ReportedFault {
  package func report(in context: FaultContext) -> FaultReport { FaultReport(self, in: context) }
}

extension FaultReport {
  /// Every fault of a campaign, in words.
  init(_ fault: FleetFault, in context: FaultContext) {
    self =
      switch fault {
      case .campaign(let path, let passages, let omitted):
        Self.mistakes(of: path, passages, omitted, in: context)
      case .named(let campaign, let passage, let fault):
        Self.file(named: passage, by: campaign, fault, in: context)
      case .file(let fault): context.report(.file(fault))
      case .plan(let path, let words):
        FaultReport(
          .campaign, "\(path): \(words)", why: "No run was started.",
          help: context.command(["fleet", "plan", "--help"]), exit: .configuration)
      case .planDiffers(let plan, let campaign, let differences):
        Self.differences(differences, of: campaign, from: plan, in: context)
      case .notRegular(let path):
        FaultReport(
          .file, "\(path) is not a regular file",
          why: "A run reads its images again when it is continued, so they must be files.",
          help: "ls -l -- " + ShellWords.quote(path), exit: .missingInput)
      case .store(let fault): FaultReport(fault, in: context)
      case .search(.storage(let fault)): FaultReport(fault, in: context)
      case .search(let fault):
        FaultReport(
          .fleetRun, "\(fault)", why: "Runs are named by the first characters of their names.",
          help: context.command(["fleet", "list"]), exit: .missingInput)
      case .held(.state(let fault)): context.report(.state(fault))
      case .held(.held(let store, let holder)): Self.held(store, by: holder, in: context)
      case .refused(let words, let run):
        FaultReport(
          .fleetRequest, "run \(run): \(words)",
          why: "The request was refused; nothing was changed.",
          help: context.command(["fleet", "status", run]), exit: .refusedBeforeWriting)
      case .unconfirmed(let run):
        FaultReport(
          .fleetRequest, "run \(run) is not cancelled without confirmation",
          why: "Nothing was changed. --yes confirms where no question can be asked.",
          help: context.command(["fleet", "cancel", run, "--yes"]), exit: .refusedBeforeWriting)
      case .unanswered(let run):
        FaultReport(
          .fleetRequest, "the request for run \(run) was not answered within 10 s",
          why: "It is kept; the process that works on the run follows it when it can.",
          help: context.command(["fleet", "status", run]), exit: .linkLost, retryable: true)
      case .changed(let run, let campaign):
        FaultReport(
          .campaign, "\(campaign) is not what run \(run) began with",
          why: "A run goes on with what was planned. --again gives that run up and begins another.",
          help: context.again(with: "--again"), exit: .configuration)
      case .brokenChain(let run, let words):
        FaultReport(
          .fleetChain, "the events of run \(run) are not as they were recorded: \(words)",
          why: "Somebody or something has changed the store; a report of it proves nothing.",
          help: context.command(["fleet", "list"]), exit: .malformedInput)
      case .otherHash(let run, let given, let events, let head, let other):
        Self.otherHash(given, of: run, events, head, other, in: context)
      case .lostRuns(let run, let losses): Self.lostRuns(losses, beside: run, in: context)
      case .signing(let key, let words):
        FaultReport(
          .keyFile, "the head of the run is not signed by \(key): \(words)",
          why: "Keys of ssh are used through ssh-keygen, keys of minisign through minisign.",
          help: "head -n 1 -- " + ShellWords.quote(key), exit: .configuration)
      case .waits(let run, let words):
        FaultReport(
          .fleetPaused, "run \(run) is \(words)",
          why: "A person decides whether it goes on; then the same command goes on with it.",
          help: context.command(["fleet", "resume", run]), exit: .fleetStopped, retryable: true)
      case .interrupted(let run):
        FaultReport(
          .interrupted, "run \(run) was interrupted",
          why: "All that was done is recorded; this command goes on where the devices are.",
          help: context.goingOn, exit: .linkLostResumable, retryable: true)
      case .failed(let words):
        FaultReport(
          .bug, words, why: "This is an error of otaflash; what was recorded is kept.",
          help: context.again, exit: .bug, retryable: true)
      }
  }

  private static func mistakes(
    of campaign: String, _ passages: [FilePassage], _ omitted: Int, in context: FaultContext
  ) -> FaultReport {
    var report = FaultReport(
      .campaign, passages.first?.what ?? "the campaign is not valid",
      why: "No run was started. otaflash-campaign(5) describes every key.",
      help: check(campaign, in: context),
      exit: .configuration)
    (report.passages, report.omitted) = (passages, omitted)
    return report
  }

  private static func differences(
    _ differences: [String], of campaign: String, from plan: String, in context: FaultContext
  ) -> FaultReport {
    var report = FaultReport(
      .campaign, "\(campaign) is not what \(plan) says",
      why: "No run was started: what runs must be what was reviewed. Review the campaign again.",
      help: check(campaign, in: context), exit: .configuration)
    report.details = differences
    return report
  }

  /// Checks a campaign, after it was corrected.
  private static func check(_ campaign: String, in context: FaultContext) -> String {
    context.command(["fleet", "plan", campaign.hasPrefix("-") ? "./" + campaign : campaign])
  }

  /// The fault of a file, with the place where the campaign names it.
  private static func file(
    named passage: FilePassage, by campaign: String, _ fault: CommandFault, in context: FaultContext
  ) -> FaultReport {
    let inner = context.report(fault)
    var report = FaultReport(
      inner.code, inner.what,
      why: inner.code == .file
        ? "Paths in a campaign are relative to the folder of the campaign." : inner.why,
      help: check(campaign, in: context), exit: inner.exit,
      retryable: inner.retryable)
    var place = passage
    place.words = "the campaign names it here"
    report.passages = [place]
    return report
  }

  private static func otherHash(
    _ given: String, of run: String, _ events: Int, _ head: String, _ other: String?,
    in context: FaultContext
  ) -> FaultReport {
    var report = FaultReport(
      .fleetChain, "no event of run \(run) has the hash \(given)",
      why: "The events were changed after the hash was written down, or it is of another run.",
      help: context.command(["fleet", "report", other ?? run, "--verify"]), exit: .malformedInput)
    report.details = ["the last of \(events) events has the hash \(head)"]
    if let other { report.details.append("an event of run \(other) has the given hash") }
    return report
  }

  private static func lostRuns(
    _ losses: [String], beside run: String?, in context: FaultContext
  ) -> FaultReport {
    var report = FaultReport(
      .fleetChain, "the store does not hold every run as it was recorded",
      why: (run.map { "The events of run \($0) are unchanged. " } ?? "")
        + "otaflash never deletes a run.",
      help: context.command(["fleet", "list"]), exit: .malformedInput)
    report.details = losses
    return report
  }

  private static func held(
    _ store: String, by holder: Int32?, in context: FaultContext
  ) -> FaultReport {
    FaultReport(
      .fleetRunHeld,
      holder.map { "process \($0) works on a campaign" } ?? "another process works on a campaign",
      why: "One process at a time works with \(store).",
      help: context.command(["fleet", "status"]), exit: .deviceUnavailable, retryable: true)
  }

  init(_ fault: StorageFault, in context: FaultContext) {
    let (exit, retryable): (ExitStatus, Bool) =
      switch fault.kind {
      case .full: (.outputFailed, true)
      case .readOnly: (.permissionDenied, false)
      case .locked: (.systemCall, true)
      case .newerVersion, .damaged, .unsound: (.configuration, false)
      case .system: (.systemCall, false)
      }
    self.init(
      .fleetStore, fault.words,
      why: "What cannot be recorded is not done; devices keep what they hold.",
      help: context.doctor, exit: exit, retryable: retryable)
  }
}
#endif
