#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// What can go wrong with a campaign as a whole; what goes wrong with its devices is in its run.
enum FleetFault: Error {
  /// A campaign, or its table of devices, is not as it must be.
  ///
  /// - Parameters:
  ///   - passages: one or more mistakes.
  ///   - omitted: mistakes that are not among them.
  case campaign(path: String, [FilePassage], omitted: Int = 0)
  /// A file that a campaign names at a place, and what is wrong with that file.
  indirect case named(by: String, at: FilePassage, CommandFault)
  /// One of its files cannot be read.
  case file(FileFault)
  /// What should be a saved plan is not one.
  case plan(path: String, words: String)
  /// A campaign would do something else than a saved plan says.
  case planDiffers(plan: String, campaign: String, differences: [String])
  /// A pipe or device where a campaign names an image.
  case notRegular(path: String)
  case store(StorageFault)
  case search(RunSearchFault)
  /// Another process works with the store.
  case held(RunLockFault)
  /// A request that the run does not follow, and why: a clause.
  case refused(words: String, run: String)
  /// The user did not confirm, or could not be asked.
  case unconfirmed(run: String)
  /// The process that works on a run did not say what became of a request.
  case unanswered(run: String)
  /// The campaign or one of its lists is another one than the open run began with.
  case changed(run: String, campaign: String)
  /// The events of a run are not as they were recorded.
  case brokenChain(run: String, words: String)
  /// No event of a run has the hash that was given.
  ///
  /// - Parameters:
  ///   - events: how many it has.
  ///   - head: the hash of the last.
  ///   - other: the run that has an event with the given hash.
  case otherHash(run: String, given: String, events: Int, head: String, of: String?)
  /// Other runs were deleted or rewritten: clauses. The events of this one hold.
  case lostRuns(run: String?, [String])
  /// The head of a run was not signed, and why: a clause.
  case signing(key: String, words: String)
  /// The run waits for a person, and nobody is to be asked.
  case waits(run: String, words: String)
  case interrupted(run: String)
  /// A run whose beginning is not in the store.
  static func noEvents(of run: String) -> FleetFault {
    .store(StorageFault(.unsound, "run \(run) has no events"))
  }

  /// What should never happen.
  case failed(words: String)
}
#endif
