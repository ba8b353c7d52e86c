import OtaflashFleet

/// Runs the hooks of a campaign as processes of the host; in a simulation, runs nothing.
public protocol HookRunner: Sendable {
  /// Runs a command until it ends or reaches its time limit. Cancelling the task ends the command
  /// and all of its processes.
  ///
  /// - Parameters:
  ///   - hook: the command.
  ///   - environment: variables in addition to the environment of this process.
  ///   - timeLimit: the time after which the command is terminated.
  func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome
}

/// A runner for forecasts, which have no effects: it reports immediate success for every hook.
package struct HooksLeftOut: HookRunner {
  public init() {}

  public func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome { HookOutcome(.exited(code: 0)) }
}
