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
        FaultReport(
          .campaign, passages.first?.what ?? "the campaign is not valid",
          why: "No run was started. otaflash-campaign(5) describes every key.",
          help: context.check(path), passages: passages, omitted: omitted)
      case .named(let campaign, let passage, let fault):
        Self.file(named: passage, by: campaign, fault, in: context)
      case .file(let fault): context.report(.file(fault))
      case .plan(let path, let words):
        FaultReport(
          .campaign, "\(path): \(words)", why: "No run was started.",
          help: context.command(["fleet", "plan", "--help"]))
      case .planDiffers(let plan, let campaign, let differences):
        FaultReport(
          .campaign, "\(campaign) differs from \(plan)",
          why: "No run was started, because it would differ from the reviewed plan. Review it "
            + "again.", help: context.check(campaign), details: differences)
      case .notRegular(let path):
        FaultReport(
          .file, "\(path) is not a regular file",
          why: "A continued run reads its images again, so they must be regular files.",
          help: context.list(path))
      case .store(let fault): FaultReport(fault, in: context)
      case .search(.storage(let fault)): FaultReport(fault, in: context)
      case .search(let fault):
        FaultReport(
          .fleetRun, "\(fault)", help: context.command(["fleet", "list"]))
      case .held(.state(let fault)): context.report(.state(fault))
      case .held(.held(let store, let holder)):
        FaultReport(
          .fleetRunHeld,
          "\(holder.map { "process \($0)" } ?? "another process") is running a campaign",
          why: "Only one process at a time can use \(store).",
          help: context.command(["fleet", "status"]))
      case .refused(let words, let run):
        FaultReport(
          .fleetRequest, "run \(run): \(words)",
          why: "The request was refused; nothing was changed.",
          help: context.command(["fleet", "status", run]))
      case .unconfirmed(let run):
        FaultReport(
          .fleetRequest, "run \(run) is not cancelled without confirmation",
          why: "Nothing was changed. In a script, confirm with --yes.",
          help: context.command(["fleet", "cancel", run, "--yes"]))
      case .unanswered(let run):
        FaultReport(
          .fleetRequest, "the request for run \(run) was not answered within 10 s",
          why: "The request is kept until the process that works on the run handles it.",
          help: context.command(["fleet", "status", run]), exit: .linkLost, retryable: true)
      case .changed(let run, let campaign):
        FaultReport(
          .campaign, "\(campaign) changed after run \(run) started",
          why: "A run continues only as it was planned. --again abandons it and starts another.",
          help: context.again(with: "--again"))
      case .brokenChain(let run, let words):
        FaultReport(
          .fleetChain, "the events of run \(run) differ from the recorded events: \(words)",
          why: "Another program has changed the store; do not rely on its reports.",
          help: context.command(["fleet", "list"]))
      case .otherHash(let run, let given, let events, let head, let other):
        FaultReport(
          .fleetChain, "no event of run \(run) has the hash \(given)",
          why: "The events were changed after the hash was noted, or the hash is from another run.",
          help: context.command(["fleet", "report", other ?? run, "--verify"]),
          details: ["the last of \(events) events has the hash \(head)"]
            + (other.map { ["an event of run \($0) has the given hash"] } ?? []))
      case .lostRuns(let run, let losses):
        FaultReport(
          .fleetChain, "a run in the store was deleted or changed",
          why: (run.map { "The events of run \($0) are unchanged. " } ?? "")
            + "otaflash never deletes a run.",
          help: context.command(["fleet", "list"]), details: losses)
      case .signing(let key, let words):
        FaultReport(
          .keyFile, "the head of the run is not signed by \(key): \(words)",
          why: "otaflash signs with ssh-keygen for SSH keys, and with minisign for minisign keys.",
          help: "head -n 1 -- " + ShellWords.quote(key))
      case .waits(let run, let words):
        FaultReport(
          .fleetPaused, "run \(run) is \(words)",
          why: "Resume or cancel the run; then run the same command again to continue it.",
          help: context.command(["fleet", "resume", run]))
      case .interrupted(let run):
        FaultReport(
          .interrupted, "run \(run) was interrupted",
          why: "All progress is recorded; this command continues the run.",
          help: context.goingOn, exit: .linkLostResumable)
      case .failed(let words):
        FaultReport(
          .bug, words, why: "This is an error in otaflash; all records are kept.",
          help: context.again, retryable: true)
      }
  }

  /// Returns the fault of a file, with the location of its name in the campaign.
  private static func file(
    named passage: FilePassage, by campaign: String, _ fault: CommandFault, in context: FaultContext
  ) -> FaultReport {
    let inner = context.report(fault)
    var place = passage
    place.words = "the campaign names it here"
    return FaultReport(
      inner.code, inner.what,
      why: inner.code == .file
        ? "Paths in a campaign are relative to the folder of the campaign." : inner.why,
      help: context.check(campaign), exit: inner.exit, retryable: inner.retryable,
      passages: [place])
  }

  init(_ fault: StorageFault, in context: FaultContext) {
    let exit: ExitStatus? =
      switch fault.kind {
      case .full: .outputFailed
      case .readOnly: .permissionDenied
      case .newerVersion, .damaged, .unsound: .configuration
      case .locked, .system: nil
      }
    self.init(
      .fleetStore, fault.words,
      why: "A step that cannot be recorded is not carried out; devices keep their state.",
      help: context.doctor, exit: exit, retryable: fault.kind == .full || fault.kind == .locked)
  }
}

extension FaultContext {
  /// Returns the command that checks a campaign after it was corrected.
  fileprivate func check(_ campaign: String) -> String {
    command(["fleet", "plan", campaign.hasPrefix("-") ? "./" + campaign : campaign])
  }
}
#endif
