/// A command in a campaign.
public enum HookCommand: Hashable, Sendable, Codable {
  /// A program with its arguments (one or more words), executed without a shell.
  case words([String])
  /// A script for `/bin/sh -c`.
  case shell(String)
}

/// The point at which a hook runs. Campaigns and stores use these names.
public enum HookPoint: String, Hashable, Sendable, Codable, CaseIterable {
  /// Before each attempt on a device.
  case beforeDevice = "before-device"
  /// After each attempted update of a device, unless the device was skipped or the attempt was
  /// interrupted.
  case afterDevice = "after-device"
  /// Before the first device of a wave.
  case beforeWave = "before-wave"
  /// After the verdict on a wave.
  case afterWave = "after-wave"
  /// The run is complete or cancelled.
  case runEnded = "run-ended"
  /// The run has paused, or waits for approval.
  case runPaused = "run-paused"
  /// The verdict of a wave stopped the run.
  case runStopped = "run-stopped"
}

/// The commands that run before and after devices and waves, and when a run pauses or ends.
package struct CampaignHooks: Hashable, Sendable, Codable {
  /// The consequence of a failed `before-device` hook for its device.
  package enum BeforeFailure: String, Hashable, Sendable, Codable, CaseIterable {
    /// The device is skipped, which counts as neither a success nor a failure.
    case skip
    /// The device counts as failed in its wave.
    case fail
  }

  /// The consequence of a failed `after` hook.
  package enum AfterFailure: String, Hashable, Sendable, Codable, CaseIterable {
    /// The failure is only recorded.
    case note
    /// A device that runs the image counts as failed; after a wave, the run pauses if the next wave
    /// would start.
    case fail
  }

  package var commands: [HookPoint: HookCommand] = [:]
  /// The time limit of one hook.
  package var timeLimit = Duration.seconds(60)
  package var onFailure = BeforeFailure.skip
  package var afterFailure = AfterFailure.note

  package init() {}

  package subscript(point: HookPoint) -> HookCommand? { commands[point] }
}
