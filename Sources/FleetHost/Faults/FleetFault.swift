#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// A fault of a campaign. The run contains the faults of the devices.
package enum FleetFault: Error {
  /// A malformed campaign or device table.
  ///
  /// - Parameters:
  ///   - passages: one or more mistakes.
  ///   - omitted: the number of further mistakes.
  case campaign(path: String, [FilePassage], omitted: Int = 0)
  /// A file that a campaign names, the location of that name, and the fault of the file.
  indirect case named(by: String, at: FilePassage, CommandFault)
  /// A file of the campaign that cannot be read.
  case file(FileFault)
  /// A file that is not a saved plan.
  case plan(path: String, words: String)
  /// A campaign that differs from a saved plan.
  case planDiffers(plan: String, campaign: String, differences: [String])
  /// An image of the campaign is a pipe or a device.
  case notRegular(path: String)
  case store(StorageFault)
  case search(RunSearchFault)
  /// Another process is using the store.
  case held(RunLockFault)
  /// A request that the run refused, and the reason: a clause.
  case refused(words: String, run: String)
  /// The user did not confirm the cancellation, or the command is not interactive.
  case unconfirmed(run: String)
  /// The process that works on a run did not answer a request.
  case unanswered(run: String)
  /// The campaign, its device table or the device of an alias changed after the open run started.
  case changed(run: String, campaign: String)
  /// The events of a run differ from the recorded events.
  case brokenChain(run: String, words: String)
  /// No event of a run has the given hash.
  ///
  /// - Parameters:
  ///   - events: the number of events of the run.
  ///   - head: the hash of the last event.
  ///   - of: another run that has an event with the given hash; `nil` = no run has such an event.
  case otherHash(run: String, given: String, events: Int, head: String, of: String?)
  /// Other runs were deleted or rewritten; the values are clauses. The events of this run are
  /// unchanged.
  case lostRuns(run: String?, [String])
  /// The head of a run was not signed, and the reason: a clause.
  case signing(key: String, words: String)
  /// The run waits for an operator, and this process does not prompt.
  case waits(run: String, words: String)
  case interrupted(run: String)
  /// Returns the fault of a run that has no events in the store.
  package static func noEvents(of run: String) -> FleetFault {
    .store(StorageFault(.unsound, "run \(run) has no events"))
  }

  /// An internal error.
  case failed(words: String)
}
#endif
