/// A command of the campaign's owner.
public enum HookCommand: Hashable, Sendable {
  /// A program and its arguments, run without a shell; one or more.
  case words([String])
  /// A text for `/bin/sh -c`.
  case shell(String)
}

/// When a hook runs. The names are those in campaigns and in the store.
public enum HookPoint: String, Hashable, Sendable, Codable, CaseIterable {
  case beforeDevice = "before-device"
  case afterDevice = "after-device"
  case beforeWave = "before-wave"
  case afterWave = "after-wave"
  /// The run is complete or cancelled.
  case runEnded = "run-ended"
  /// The run has paused, or waits for approval.
  case runPaused = "run-paused"
  /// A wave reached its failure limit, and the run ended there.
  case runStopped = "run-stopped"
}

/// The commands that run before and after devices and waves, and when a run pauses or ends.
package struct CampaignHooks: Hashable, Sendable {
  /// What a `before-device` hook that fails means for its device.
  package enum BeforeFailure: String, Hashable, Sendable, CaseIterable {
    /// It is left out: neither a success nor a failure.
    case skip
    /// It has failed, and counts against its wave.
    case fail
  }

  /// What an `after` hook that fails means.
  package enum AfterFailure: String, Hashable, Sendable, CaseIterable {
    /// It is recorded, nothing else.
    case note
    /// An updated device has failed; before the next wave the run pauses.
    case fail
  }

  package var commands: [HookPoint: HookCommand] = [:]
  /// The longest time for one of them.
  package var timeLimit = Duration.seconds(60)
  package var onFailure = BeforeFailure.skip
  package var afterFailure = AfterFailure.note

  package init() {}

  package subscript(point: HookPoint) -> HookCommand? { commands[point] }
}
