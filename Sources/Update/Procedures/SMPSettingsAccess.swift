import OtaflashGATT
import OtaflashWire

/// Reads or changes the settings of a device over SMP (group 3).
public struct SMPSettingsAccess: Sendable {
  /// The action.
  public enum Action: Equatable, Sendable {
    /// Reads a value.
    case get(String)
    /// Sets a value, which is lost at the next restart unless it is saved.
    case set(String, [UInt8])
    /// Deletes a stored value. The application uses its current value until the next restart.
    case delete(String)
    /// Replaces the current values with the saved values.
    case load
    /// Applies the changed values, if the application waits for this.
    case commit
    /// Saves the current values.
    case save
  }

  private static let option = "CONFIG_MCUMGR_GRP_SETTINGS"

  /// The actions, which are performed in order.
  public let actions: [Action]

  /// Creates an access.
  public init(_ actions: [Action]) { self.actions = actions }

  /// The access as a command for a peripheral's queue. The command returns the values of the
  /// actions `.get`.
  public var command: Command<PeripheralTurn, [[UInt8]], UpdateFault> {
    Command("settings") { (turn) async throws(UpdateFault) -> [[UInt8]] in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      var values: [[UInt8]] = []
      for action in actions {
        if let value = try await Self.perform(action, over: channel) { values.append(value) }
      }
      return values
    }
  }

  /// Performs the access over a new link.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> [[UInt8]] {
    try await command.run(on: dialer, clock: clock)
  }

  private static func perform(
    _ action: Action, over channel: SMPChannel
  ) async throws(UpdateFault) -> [UInt8]? {
    let limit = SMPFileServer.flashLimit
    switch action {
    case .get(let name):
      return try await channel.perform(SMPSettings.Read(name: name), enabledBy: option).value
    case .set(let name, let value):
      _ = try await channel.perform(
        SMPSettings.Write(name: name, value: value), enabledBy: option, within: limit)
    case .delete(let name):
      _ = try await channel.perform(
        SMPSettings.Delete(name: name), enabledBy: option, within: limit)
    case .load: _ = try await channel.perform(SMPSettings.Load(), enabledBy: option, within: limit)
    case .commit:
      _ = try await channel.perform(SMPSettings.Commit(), enabledBy: option, within: limit)
    case .save: _ = try await channel.perform(SMPSettings.Save(), enabledBy: option, within: limit)
    }
    return nil
  }
}
