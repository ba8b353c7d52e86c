import OtaflashGATT
import OtaflashWire

/// Reads or sets the clock of a device over SMP (group 0, command 4).
public struct SMPClock: Sendable {
  private static let option = "CONFIG_RTC and CONFIG_MCUMGR_GRP_OS_DATETIME"

  /// The source of the time to set; `nil` = the clock is only read. The source is called
  /// immediately before the request is sent.
  private let source: (@Sendable () -> CalendarTime)?

  /// Creates a reading of the clock.
  public init() { source = nil }

  /// Creates an access that sets the clock, and then reads it.
  public init(setting source: @escaping @Sendable () -> CalendarTime) { self.source = source }

  /// The access as a command for a peripheral's queue. The command returns the time that the device
  /// reports.
  public var command: Command<PeripheralTurn, CalendarTime, UpdateFault> {
    Command("datetime") { (turn) async throws(UpdateFault) -> CalendarTime in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      if let source {
        _ = try await channel.perform(
          SMPOS.WriteDateTime(source().description), enabledBy: Self.option)
      }
      let response = try await channel.perform(SMPOS.ReadDateTime(), enabledBy: Self.option)
      guard let time = CalendarTime(response.text) else {
        throw .protocolViolation(.request, "its time '\(response.text)' is not a time")
      }
      return time
    }
  }

  /// Performs the access over a new link.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> CalendarTime {
    try await command.run(on: dialer, clock: clock)
  }
}
