import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of single requests: settings, statistics, the clock, echoes and lists.
@Suite struct SMPDataCommandTests {
  private static let plain = "slot=64K"

  private func access(
    _ actions: [SMPSettingsAccess.Action], _ settings: String = Self.plain,
    on storage: FlashMemory? = nil
  ) throws -> Result<[[UInt8]], UpdateFault> {
    try onBoard(settings, on: storage) { (dialer, clock) async throws(UpdateFault) in
      try await SMPSettingsAccess(actions).run(on: dialer, clock: clock)
    }.result
  }

  @Test("a saved value survives a loss of power, another value does not")
  func settings() throws {
    let storage = try boardFlash(Self.plain)
    let name = "app/name"
    #expect(try access([.get(name)], on: storage).get() == [Array("sensor".utf8)])
    #expect(try access([.set(name, [65]), .get(name)], on: storage).get() == [[65]])
    #expect(try access([.get(name)], on: storage).get() == [Array("sensor".utf8)])
    _ = try access([.set(name, [66]), .commit, .save], on: storage).get()
    #expect(try access([.get(name)], on: storage).get() == [[66]])
    #expect(
      try access([.set(name, [67]), .load, .get(name)], on: storage).get() == [[66]])
    #expect(try access([.delete(name), .get(name)], on: storage).get() == [[66]])
    #expect(try access([.get(name)], on: storage).get() == [Array("sensor".utf8)])
  }

  @Test(
    "a refused setting is reported with its code",
    arguments: [
      (SMPSettingsAccess.Action.get("app/none"), "settings 3"),
      (.get("none/x"), "settings 5"), (.get("app/secret"), "settings 4"),
      (.set("app/serial", [1]), "settings 6"), (.set("app/rate", [1]), "settings 5"),
      (.get(String(repeating: "n", count: 32)), "settings 2"), (.get(""), "rc 3"),
    ])
  func refusals(_ action: SMPSettingsAccess.Action, _ code: String) throws {
    guard case .failure(.declined(.request, let refusal)) = try access([action]) else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.code == code)
  }

  @Test(
    "a device without a group is reported with the option that enables it",
    arguments: ["settings=no", "server=2021"])
  func missingSettings(_ settings: String) throws {
    guard
      case .failure(.declined(.request, let refusal)) = try access(
        [.get("app/name")], Self.plain + "&" + settings)
    else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.advice.contains("CONFIG_MCUMGR_GRP_SETTINGS"))
  }

  @Test("the groups of statistics and their counters are read")
  func statistics() throws {
    func read(
      _ reading: SMPStatisticsReading, _ settings: String = Self.plain
    ) throws -> Result<[SMPStatisticsReading.Group], UpdateFault> {
      try onBoard(settings) { (dialer, clock) async throws(UpdateFault) in
        try await reading.run(on: dialer, clock: clock)
      }.result
    }
    #expect(
      try read(SMPStatisticsReading(listsNames: true)).get().map(\.name) == ["smp_svr", "fs"])
    let group = try #require(try read(SMPStatisticsReading(of: "smp_svr")).get().first)
    #expect(group.counters.contains { $0.name == "requests" && $0.value == 1 })
    guard case .failure(.declined(_, let unknown)) = try read(SMPStatisticsReading(of: "x")),
      case .failure(.declined(_, let none)) = try read(
        SMPStatisticsReading(), Self.plain + "&stats=no")
    else {
      Issue.record("no refusal")
      return
    }
    #expect(unknown.code == "stat 2" && none.advice.contains("CONFIG_MCUMGR_GRP_STAT"))
  }

  @Test("the clock is set, runs, and is not set after a loss of power")
  func clock() throws {
    let start = try #require(CalendarTime("2024-02-28T23:59:55"))
    let found = try onBoard(Self.plain) { (dialer, clock) async throws(UpdateFault) in
      let first = try await SMPClock { start }.run(on: dialer, clock: clock)
      _ = await clock.pause(for: .seconds(6))
      return (first, try await SMPClock().run(on: dialer, clock: clock))
    }.result.get()
    #expect(found.0.description == "2024-02-28T23:59:55")
    #expect(found.1.description.hasPrefix("2024-02-29T00:00:0"))
    let unset = try onBoard(Self.plain) { (dialer, clock) async throws(UpdateFault) in
      try await SMPClock().run(on: dialer, clock: clock)
    }.result
    guard case .failure(.declined(.request, let refusal)) = unset else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.code == "os 4")
  }

  @Test("times survive the conversion to seconds and back")
  func times() throws {
    for text in [
      "1970-01-01T00:00:00", "1900-03-01T00:00:00", "2000-02-29T23:59:59", "2100-02-28T12:00:00",
      "2026-11-28T14:35:00", "9999-12-31T23:59:59", "1969-12-31T23:59:59",
    ] {
      #expect(CalendarTime(text)?.description == text)
    }
    #expect(CalendarTime("2026-11-28T14:35:00.250Z")?.milliseconds == 250)
    #expect(CalendarTime("2026-11-28T14:35:00")?.secondsSince1970 == 1_795_876_500)
    for text in ["2026-02-29T00:00:00", "2026-13-01T00:00:00", "now", "2026-11-28", ""] {
      #expect(CalendarTime(text) == nil)
    }
  }

  @Test("round trips are measured, and lost ones are counted")
  func echo() throws {
    let found = try onBoard(Self.plain) { (dialer, clock) async throws(UpdateFault) in
      try await SMPEcho("hello", count: 4).run(on: dialer, clock: clock)
    }.result.get()
    #expect(found.roundTrips.count == 4 && found.lost == 0)
    #expect(found.roundTrips.allSatisfy { $0 > .zero && $0 < .seconds(1) })
  }

  @Test("a directory is listed by the shell")
  func list() throws {
    let settings = Self.plain + "&shell=yes"
    let storage = try boardFlash(settings)
    _ = try put([1, 2, 3], to: "/lfs1/a.txt", onto: settings, on: storage).result.get()
    _ = try put([1], to: "/lfs1/folder/b", onto: settings, on: storage).result.get()
    func list(_ path: String, _ settings: String) throws
      -> Result<[SMPFileList.Entry], UpdateFault>
    {
      try onBoard(settings, on: storage) { (dialer, clock) async throws(UpdateFault) in
        try await SMPFileList(path).run(on: dialer, clock: clock)
      }.result
    }
    let entries = try list("/lfs1", settings).get()
    #expect(entries.map(\.name) == ["a.txt", "folder"])
    #expect(entries.map(\.isDirectory) == [false, true] && entries[0].size == 3)
    guard case .failure(.declined(_, let none)) = try list("/lfs1", Self.plain),
      case .failure(.declined(_, let unknown)) = try list("/usb", settings)
    else {
      Issue.record("no refusal")
      return
    }
    #expect(none.advice.contains("CONFIG_FILE_SYSTEM_SHELL") && unknown.code == "ret -8")
  }
}
