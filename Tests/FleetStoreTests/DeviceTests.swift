#if Fleet
import Foundation
import GRDB
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

/// The devices that are remembered, and what runs say of them.
@Suite struct DeviceTests {
  static let figures = UpdateFigures(
    from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0), proof: "read-back", octets: 1,
    uploadMilliseconds: 1, resumes: 0)

  static func time(_ second: Int) -> FleetTime { Sample.now.advanced(by: .seconds(second)) }

  static func sighting(_ id: String, _ name: String? = nil, at second: Int) -> DeviceSighting {
    DeviceSighting(id, name: name, address: nil, at: time(second))
  }

  @Test func whatWasSeenConnectedToAndFlashedIsRemembered() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    let address = "C0:FF:EE:00:00:01"
    try store.seen([DeviceSighting(address, name: "Door", address: address, at: Self.time(1))])
    try store.connected(Self.sighting(address, at: 2))
    let flashing = DeviceRow.Flashing(
      outcome: .flashed, version: FirmwareVersion(1, 3, 0), at: Self.time(3))
    try store.flashed(address, flashing)
    var expected = DeviceRow(id: address)
    expected.name = "Door"
    expected.address = address
    expected.lastSeen = Self.time(3)
    expected.lastConnected = Self.time(3)
    expected.lastFlashing = flashing
    expected.setVersion(FirmwareVersion(1, 3, 0), at: Self.time(3))
    #expect(try store.device(address) == expected)
    #expect(try folder.store(isReadOnly: true).devices() == [expected])
    try store.forget(address)
    try store.forget(address)
    #expect(try store.device(address) == nil && store.devices().isEmpty)
  }

  @Test func theLastConnectedComeFirstThenTheLastSeen() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try store.seen([
      Self.sighting("d", at: 9), Self.sighting("b", at: 5), Self.sighting("a", at: 5),
    ])
    try store.connected(Self.sighting("x", at: 1))
    try store.connected(Self.sighting("y", at: 2))
    #expect(try store.devices().map(\.id) == ["y", "x", "d", "a", "b"])
    #expect(try store.devices(limit: 2).map(\.id) == ["y", "x"])
  }

  /// A clock that was set back, or a change that comes late, takes nothing back.
  @Test func whatHappenedLaterWins() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try store.flashed(
      "a", .init(outcome: .flashed, version: FirmwareVersion(1, 3, 0), at: Self.time(9)))
    try store.flashed("a", .init(outcome: .failed, version: nil, at: Self.time(3)))
    try store.seen([Self.sighting("a", at: 1)])
    let row = try #require(try store.device("a"))
    #expect(row.lastFlashing?.outcome == .flashed && row.lastSeen == Self.time(9))
    #expect(row.version == FirmwareVersion(1, 3, 0))
  }

  @Test func thereIsNoLimit() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try store.seen((0..<5000).map { Self.sighting("d\($0)", at: $0) })
    #expect(try store.devices().count == 5000)
    #expect(try store.devices(limit: 1).map(\.id) == ["d4999"])
  }

  // MARK: The former list

  @Test func theFormerListIsTakenOverOnce() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try store.connected(Self.sighting("both", "new name", at: 50))
    var old = DeviceRow(id: "old")
    old.lastSeen = Self.time(1)
    var both = DeviceRow(id: "both")
    both.lastSeen = Self.time(2)
    both.address = "C0:FF:EE:00:00:02"
    #expect(try !store.hasTakenOver())
    #expect(try store.takeOver([old, both]))
    #expect(try store.devices().map(\.id) == ["both", "old"])
    let kept = try #require(try store.device("both"))
    #expect(kept.name == "new name" && kept.lastSeen == Self.time(50))
    #expect(kept.address == "C0:FF:EE:00:00:02")
    try store.forget("old")
    #expect(try !folder.store().takeOver([old]) && store.hasTakenOver())
    #expect(try store.device("old") == nil, "who was forgotten stays so")
  }

  // MARK: Runs

  /// One run in which everything that can become of an attempt does.
  static func record(_ store: FleetStore) async throws {
    let ledger = store.ledger(of: "r1")
    let devices = ["a", "b", "c", "d", "e", "f"].map {
      RunDevice(id: $0, name: "name \($0)", board: "door", site: "berlin", tags: ["x"], image: "i")
    }
    try await ledger.append(
      [Sample.beginning, .wavePlanned(wave: 0, name: "all", devices: devices)], at: time(0))
    let endings: [AttemptEnding] = [
      .updated(figures), .current(version: FirmwareVersion(1, 3, 0)),
      .failed(AttemptFailure(.device, code: "reverted", words: "w")),
      .failed(AttemptFailure(.link, code: "link-lost", words: "w")),
      .failed(AttemptFailure(.infrastructure, code: "disk-full", words: "w")),
      .returned(.notHeard),
    ]
    for (index, ending) in endings.enumerated() {
      try await ledger.append(
        [.attemptEnded(device: devices[index].id, attempt: 1, ending: ending)],
        at: time(10 + index))
    }
  }

  @Test func whatBecameOfDevicesInRunsIsThereWithTheEvents() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    #expect(try store.devices().map(\.id) == ["d", "c", "b", "a"], "the others were never seen")
    let outcomes = try store.devices().map { $0.lastFlashing?.outcome }
    #expect(outcomes == [.interrupted, .failed, .alreadyCurrent, .flashed])
    let row = try #require(try store.device("a"))
    #expect(row.lastConnected == Self.time(10) && row.version == FirmwareVersion(1, 3, 0))
    #expect(row.name == "name a" && row.board == "door" && row.site == "berlin")
    #expect(row.tags == ["x"])
    #expect(try store.device("f")?.board == "door" && store.device("f")?.lastSeen == nil)
    try store.seen([Self.sighting("a", "advertised", at: 99)])
    #expect(try store.device("a")?.name == "advertised")
  }

  /// A later connection that tells no version does not make an older version newer.
  @Test func aVersionHasTheTimeAtWhichItWasRead() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    try store.connected(Self.sighting("a", at: 90))
    #expect(try store.device("a")?.versionRead == Self.time(10))
    #expect(try store.device("a")?.lastConnected == Self.time(90))
  }

  /// The process was killed after the activation: the device is asked again, runs the image, and
  /// was updated by the run.
  @Test func aDeviceThatWasUpdatedBeforeAKillWasFlashed() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    try await store.ledger(of: "r1").append(
      [.deviceSettled(device: "b", ending: .updated)], at: Self.time(30))
    #expect(try store.device("b")?.lastFlashing?.outcome == .flashed)
    #expect(try store.device("a")?.lastFlashing?.outcome == .flashed)
    try await store.ledger(of: "r1").append(
      [.attemptEnded(device: "b", attempt: 2, ending: .current(version: nil))],
      at: Self.time(31))
    #expect(try store.device("b")?.lastFlashing?.outcome == .alreadyCurrent)
  }

  @Test func theHistoryOfADeviceIsFoundAmongTheEventsOfAllRuns() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    let history = try store.history(ofDevice: "c")
    #expect(history.map(\.run.id) == ["r1"])
    #expect(history.first?.events.map(\.number) == [1, 2, 5])
    #expect(try store.history(ofDevice: "i").isEmpty, "an image's digest is no device")
  }

  /// A batch that the disk refuses says nothing of its devices either.
  @Test func outcomesAndEventsAreKeptTogetherOrNotAtAll() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    let before = try store.devices()
    let pages = try store.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    try await store.file.queue.writeWithoutTransaction {
      _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages)")
    }
    let batch = (0..<500).map { _ in
      FleetEvent.attemptEnded(device: "f", attempt: 1, ending: .updated(Self.figures))
    }
    await #expect(throws: StorageFault.self) {
      try await store.ledger(of: "r1").append(batch, at: Self.time(80))
    }
    #expect(try store.devices() == before)
  }

  /// The table is a fold over the events: made anew from them it is the same.
  @Test func theTableCanBeMadeAnewFromTheEvents() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    let before = try store.devices()
    try folder.sql(StoreFolder.backToFirstVersion)
    #expect(try folder.store(isReadOnly: true).devices().isEmpty, "it is of version 1 again")
    #expect(try folder.store(isReadOnly: true).device("a") == nil)
    let after = try folder.store()
    #expect(try after.devices() == before)
    #expect(try after.device("f")?.board == "door")
  }

  /// A store as the first version wrote it, to the letter.
  @Test func aStoreOfTheFirstVersionIsReadAndGoneOnWith() async throws {
    let folder = try StoreFolder()
    let hash = try FirstVersion.write(to: folder)
    let store = try folder.store()
    #expect(store.setAside == nil)
    let count = FirstVersion.payloads.count
    #expect(try store.verify(run: "r1") == .intact(events: count, head: hash))
    let run = FleetRun(try await store.ledger(of: "r1").history())
    #expect(run.control == .ended(.complete(failed: 1)))
    #expect(run["a"]?.ending == .updated && run["b"]?.ending?.count == .failed)
    #expect(try store.devices().map(\.id) == ["b", "a"])
    #expect(try store.device("a")?.version == FirmwareVersion(1, 3, 0))
    try await store.ledger(of: "r1").append(
      [.deviceRetried(device: "b")], at: Self.time(99))
    guard case .intact(count + 1, _) = try folder.store().verify(run: "r1") else {
      return #expect(Bool(false), "the chain goes on")
    }
  }
}
#endif
