import OtaflashFleet

/// A runner for the commands of a campaign: as processes of the host or, in a simulation, not at
/// all.
public protocol HookRunner: Sendable {
  /// Runs a command to its end or its time limit. Cancellation of the task ends the command; none
  /// of its processes outlives the call.
  ///
  /// - Parameters:
  ///   - hook: the command.
  ///   - environment: variables in addition to the environment of this process.
  ///   - timeLimit: the time after which the command is terminated.
  func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome
}

/// A runner that reports immediate success for every hook, for forecasts, which have no effects.
package struct HooksLeftOut: HookRunner {
  public init() {}

  public func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome { HookOutcome(.exited(code: 0)) }
}
