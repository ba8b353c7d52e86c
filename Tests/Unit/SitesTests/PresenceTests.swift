#if Sites
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSimulation
import OtaflashSites
import Synchronization
import Testing

/// Tests of the reports of gateways, and of the coordinator's list of gateways.
@Suite struct PresenceTests {
  static let report = GatewayReport(
    version: "1.2.3", adapters: ["hci0", "hci1"], places: 8,
    jobs: [UpdateJob.ID(run: "r1", device: "C0:FF:EE:00:00:01", attempt: 2)],
    startedAt: WallClockTime(milliseconds: 1_790_000_000_000))

  @Test func aGatewayReportsEvery15Seconds() throws {
    try LeadershipTests.inVirtualTime { clock in
      let entries = MemoryEntries()
      let reporter = PresenceReporter(
        entries, site: "Küche 2", gateway: "pi.1", clock: clock)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: Never.self) { try await reporter.run { Self.report } }
        }
        _ = await clock.pause(for: .seconds(31))
        group.cancelAll()
      }
      #expect(entries.puts.count == 3)
      var roster = GatewayRoster()
      try await roster.update(from: entries, at: .seconds(31))
      let gateway = try #require(roster.gateways(at: .seconds(31)).first)
      #expect(gateway.site == "Küche 2" && gateway.name == "pi.1" && gateway.isRunning)
      #expect(gateway.report == Self.report)
      try await reporter.end()
      try await roster.update(from: entries, at: .seconds(32))
      #expect(roster.gateways(at: .seconds(32)).map(\.isRunning) == [false])
    }
  }

  @Test func aLostReportIsReplacedByTheNext() throws {
    try LeadershipTests.inVirtualTime { clock in
      let count = Mutex(0)
      let entries = MemoryEntries { call, _ in
        count.withLock { count in
          count += 1
          return count == 2 ? .request : .none
        }
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          let reporter = PresenceReporter(entries, site: "a", gateway: "b", clock: clock)
          await #expect(throws: Never.self) { try await reporter.run { Self.report } }
        }
        _ = await clock.pause(for: .seconds(31))
        group.cancelAll()
      }
      #expect(entries.puts.count == 2)
    }
  }

  private static func entry(_ key: String, _ revision: UInt64) -> SiteEntry {
    SiteEntry(key: key, value: [], revision: revision)
  }

  /// The coordinator's clock measures the time of the last report, regardless of the times that a
  /// gateway writes.
  @Test func aGatewayIsSeenWhenItsEntryChanges() throws {
    var roster = GatewayRoster()
    roster.update(with: [Self.entry("hall.a", 1), Self.entry("hall.b", 2)], at: .seconds(0))
    roster.update(with: [Self.entry("hall.a", 3), Self.entry("hall.b", 2)], at: .seconds(50))
    #expect(roster.gateways(at: .seconds(55)).map(\.isRunning) == [true, true])
    #expect(roster.gateways(at: .seconds(61)).map(\.isRunning) == [true, false])
    #expect(roster.gateways(at: .seconds(61)).map(\.lastSeen) == [.seconds(50), .seconds(0)])
    // An expired entry ends the presence, but the gateway stays in the list.
    roster.update(with: [], at: .seconds(70))
    #expect(roster.gateways(at: .seconds(70)).map(\.isRunning) == [false, false])
  }

  @Test func unreadableReportsAndKeysAreNoFailure() {
    var roster = GatewayRoster()
    roster.update(
      with: ["hall.a", "hall", "=.x", "a.b.c", "x.=zz"].map { Self.entry($0, 1) }, at: .zero)
    #expect(roster.gateways(at: .zero).map(\.name) == ["a"])
    #expect(roster.gateways(at: .zero).map(\.report) == [nil])
  }

  @Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct Servers {
    @Test(arguments: NATSServer.Version.allCases)
    func aReportArrives(_ version: NATSServer.Version) async throws {
      let server = try await NATSServer(version)
      let stream = try await server.jetStream()
      try await SiteStreams.create(on: stream)
      let entries = try KeyValueBucket(SiteLayout.presence, of: stream)
      let clock = VirtualTimeline().clock
      for gateway in ["a", "b"] {
        try await PresenceReporter(entries, site: "hall", gateway: gateway, clock: clock)
          .send(PresenceTests.report)
      }
      var roster = GatewayRoster()
      try await roster.update(from: entries, at: .zero)
      #expect(roster.gateways(at: .zero).map(\.name) == ["a", "b"])
      #expect(roster.gateways(at: .zero).map(\.report).allSatisfy { $0 == PresenceTests.report })
    }
  }
}
#endif
