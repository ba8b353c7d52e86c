#if Fleet
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

extension FaultReport {
  /// Every fault of a campaign, in words.
  init(_ fault: FleetFault, in context: FaultContext) {
    self =
      switch fault {
      case .campaign(let path, let line, let column, let words):
        FaultReport(
          .campaign, "\(path), line \(line), column \(column): \(words)",
          why: "Nothing was begun. otaflash-campaign(5) describes every key.",
          help: "sed -n \(line)p -- " + ShellWords.quote(path), exit: .configuration)
      case .file(let fault): FaultReport(fault, in: context)
      case .store(let fault): FaultReport(fault, in: context)
      case .search(.storage(let fault)): FaultReport(fault, in: context)
      case .search(let fault):
        FaultReport(
          .fleetRun, "\(fault)", why: "Runs are named by the first characters of their names.",
          help: context.command(["fleet", "list"]), exit: .missingInput)
      case .held(.state(let fault)): FaultReport(fault, in: context)
      case .held(.held(let store, let holder)): Self.held(store, by: holder, in: context)
      case .refused(let refusal, let run):
        FaultReport(
          .fleetRequest, "run \(run): \(refusal)", why: "Nothing was changed.",
          help: context.command(["fleet", "status", run]), exit: .refusedBeforeWriting)
      case .unanswered(let run):
        FaultReport(
          .fleetRequest, "nobody has answered the request for run \(run)",
          why: "It is kept; the process that works on the runs follows it when it can.",
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
      case .newerVersion, .damaged: (.configuration, false)
      case .system: (.systemCall, false)
      }
    self.init(
      .fleetStore, fault.words,
      why: "What cannot be recorded is not done; devices keep what they hold.",
      help: context.doctor, exit: exit, retryable: retryable)
  }
}
#endif
