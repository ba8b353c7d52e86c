#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

extension CommandFault {
  package static func fleet(_ fault: FleetFault) -> CommandFault { .campaign(fault) }
}

extension FleetFault: ReportedFault {
  package func report(in context: FaultContext) -> FaultReport { FaultReport(self, in: context) }
}

extension FaultReport {
  /// Describes a fault of a campaign.
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
          why: "A continued run reads its images again, so they must be regular files.",
          help: "ls -l -- " + ShellWords.quote(path), exit: .missingInput)
      case .store(let fault): FaultReport(fault, in: context)
      case .search(.storage(let fault)): FaultReport(fault, in: context)
      case .search(let fault):
        FaultReport(
          .fleetRun, "\(fault)", why: "A run is identified by the first characters of its name.",
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
          why: "Nothing was changed. In a script, confirm with --yes.",
          help: context.command(["fleet", "cancel", run, "--yes"]), exit: .refusedBeforeWriting)
      case .unanswered(let run):
        FaultReport(
          .fleetRequest, "the request for run \(run) was not answered within 10 s",
          why: "The request is kept until the process that works on the run handles it.",
          help: context.command(["fleet", "status", run]), exit: .linkLost, retryable: true)
      case .changed(let run, let campaign):
        FaultReport(
          .campaign, "\(campaign) changed after run \(run) started",
          why: "A run continues only as it was planned. --again abandons it and starts another.",
          help: context.again(with: "--again"), exit: .configuration)
      case .brokenChain(let run, let words):
        FaultReport(
          .fleetChain, "the events of run \(run) differ from what was recorded: \(words)",
          why: "Another program has changed the store; do not rely on its reports.",
          help: context.command(["fleet", "list"]), exit: .malformedInput)
      case .otherHash(let run, let given, let events, let head, let other):
        Self.otherHash(given, of: run, events, head, other, in: context)
      case .lostRuns(let run, let losses): Self.lostRuns(losses, of: run, in: context)
      case .signing(let key, let words):
        FaultReport(
          .keyFile, "the head of the run is not signed by \(key): \(words)",
          why: "otaflash signs with ssh-keygen for SSH keys, and with minisign for minisign keys.",
          help: "head -n 1 -- " + ShellWords.quote(key), exit: .configuration)
      case .waits(let run, let words):
        FaultReport(
          .fleetPaused, "run \(run) is \(words)",
          why: "Resume or cancel the run; then run the same command again to continue it.",
          help: context.command(["fleet", "resume", run]), exit: .fleetStopped, retryable: true)
      case .interrupted(let run):
        FaultReport(
          .interrupted, "run \(run) was interrupted",
          why: "All progress is recorded; this command continues the run.",
          help: context.goingOn, exit: .linkLostResumable, retryable: true)
      case .failed(let words):
        FaultReport(
          .bug, words, why: "This is an error in otaflash; all records are kept.",
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
      .campaign, "\(campaign) differs from \(plan)",
      why: "No run was started, because it would differ from the reviewed plan. Review it again.",
      help: check(campaign, in: context), exit: .configuration)
    report.details = differences
    return report
  }

  /// The command that checks a campaign after it was corrected.
  private static func check(_ campaign: String, in context: FaultContext) -> String {
    context.command(["fleet", "plan", campaign.hasPrefix("-") ? "./" + campaign : campaign])
  }

  /// The fault of a file, with the location of its name in the campaign.
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
      why: "The events were changed after the hash was noted, or the hash is of another run.",
      help: context.command(["fleet", "report", other ?? run, "--verify"]), exit: .malformedInput)
    report.details = ["the last of \(events) events has the hash \(head)"]
    if let other { report.details.append("an event of run \(other) has the given hash") }
    return report
  }

  private static func lostRuns(
    _ losses: [String], of run: String?, in context: FaultContext
  ) -> FaultReport {
    var report = FaultReport(
      .fleetChain, "a run in the store was deleted or changed",
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
      why: "Only one process at a time can use \(store).",
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
      why: "A step that cannot be recorded is not carried out; devices keep their state.",
      help: context.doctor, exit: exit, retryable: retryable)
  }
}
#endif
