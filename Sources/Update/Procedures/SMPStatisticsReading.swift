import OtaflashGATT
import OtaflashWire

/// Reads the statistics of a device over SMP (group 2).
public struct SMPStatisticsReading: Sendable {
  /// A group of counters.
  public struct Group: Equatable, Sendable {
    /// The name of the group.
    public let name: String
    /// The counters in the device's order; empty if they were not read.
    public let counters: [Counter]
  }

  /// A counter.
  public struct Counter: Equatable, Sendable {
    /// The name of the counter; Zephyr uses `s0`, `s1`, … without CONFIG_STATS_NAMES.
    public let name: String
    /// The value.
    public let value: UInt64
  }

  private static let option = "CONFIG_MCUMGR_GRP_STAT and CONFIG_STATS"
  /// The maximum number of groups that are read.
  private static let groupsMaximum = 64

  /// The group to read; `nil` selects all groups.
  public let name: String?
  /// Whether only the names of the groups are read.
  public let listsNames: Bool

  /// Creates a reading.
  public init(of name: String? = nil, listsNames: Bool = false) {
    self.name = name
    self.listsNames = listsNames
  }

  /// The reading as a command for a peripheral's queue.
  public var command: Command<PeripheralTurn, [Group], UpdateFault> {
    Command("statistics") { (turn) async throws(UpdateFault) -> [Group] in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      let names: [String]
      if let name {
        names = [name]
      } else {
        names = try await channel.perform(SMPStatistics.List(), enabledBy: Self.option).names
      }
      guard !listsNames else { return names.map { Group(name: $0, counters: []) } }
      var groups: [Group] = []
      for name in names.prefix(Self.groupsMaximum) {
        let found = try await channel.perform(
          SMPStatistics.Show(name: name), enabledBy: Self.option)
        groups.append(
          Group(
            name: name, counters: found.counters.map { Counter(name: $0.name, value: $0.value) }))
      }
      return groups
    }
  }

  /// Reads the statistics over a new link.
  public func run(on dialer: Dialer, clock: any LinkClock) async throws(UpdateFault) -> [Group] {
    try await command.run(on: dialer, clock: clock)
  }
}
