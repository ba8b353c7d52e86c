import OtaflashFleet

/// Runs the commands of a campaign's owner: as processes of this machine, or, in a simulation, not
/// at all.
public protocol HookRunner: Sendable {
  /// Runs a command to its end, or to the end of its time. A task that is cancelled ends the
  /// command; nothing of it outlives the call.
  ///
  /// - Parameter environment: added to this process's own.
  func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome
}

/// Does as if every hook had succeeded at once: for forecasts, which must touch nothing.
package struct HooksLeftOut: HookRunner {
  public init() {}

  public func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome { HookOutcome(.exited(code: 0)) }
}
