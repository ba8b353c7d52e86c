#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

/// Tests of the events of devices in runs, and of stores of former versions.
@Suite struct DeviceTests {
  /// Records a run with six attempts, which end differently.
  static func record(_ store: FleetStore) async throws {
    let ledger = store.ledger(of: "r1")
    let devices = ["a", "b", "c", "d", "e", "f"].map {
      RunDevice(id: $0, name: "name \($0)", board: "door", site: "berlin", tags: ["x"], image: "i")
    }
    try await ledger.append(
      [Sample.beginning, .wavePlanned(wave: 0, name: "all", devices: devices)], at: Sample.now)
    let endings: [AttemptEnding] = [
      .current(version: nil), .current(version: FirmwareVersion(1, 3, 0)),
      .failed(AttemptFailure(.device, code: "reverted", words: "w")),
      .failed(AttemptFailure(.link, code: "link-lost", words: "w")),
      .failed(AttemptFailure(.infrastructure, code: "disk-full", words: "w")),
      .returned(.notHeard),
    ]
    for (index, ending) in endings.enumerated() {
      try await ledger.append(
        [.attemptEnded(device: devices[index].id, attempt: 1, ending: ending)],
        at: Sample.now)
    }
  }

  @Test func theHistoryOfADeviceIsFoundAmongTheEventsOfAllRuns() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await Self.record(store)
    let history = try store.history(ofDevice: "c")
    #expect(history.map(\.run.id) == ["r1"])
    #expect(history.first?.events.map(\.number) == [1, 2, 5])
    #expect(try store.history(ofDevice: "i").isEmpty, "the digest of an image is not a device")
  }

  /// The table of devices of former versions is removed after the registry has imported it, and a
  /// new store has no such table.
  @Test func theFormerTableIsKeptUntilItIsImported() async throws {
    let folder = try StoreFolder()
    #expect(try !folder.store().hasFormerDevices())
    try await Self.record(try folder.store())
    try folder.sql(StoreFolder.backToFirstVersion)
    _ = try folder.store()
    let store = try folder.store()
    #expect(try store.hasFormerDevices())
    try store.dropFormerDevices()
    #expect(try !folder.store().hasFormerDevices())
    #expect(try store.events(of: "r1").count == 8)
  }

  /// The store is exactly as the first version wrote it.
  @Test func aStoreOfTheFirstVersionIsReadAndContinued() async throws {
    let folder = try StoreFolder()
    let hash = try FirstVersion.write(to: folder)
    let store = try folder.store()
    #expect(store.setAside == nil)
    let count = FirstVersion.payloads.count
    #expect(try store.verify(run: "r1") == .intact(events: count, head: hash))
    let run = FleetRun(try await store.ledger(of: "r1").history())
    #expect(run.control == .ended(.complete(failed: 1)))
    #expect(run["a"]?.ending == .updated && run["b"]?.ending?.count == .failed)
    try await store.ledger(of: "r1").append(
      [.deviceRetried(device: "b")], at: Sample.now)
    guard case .intact(count + 1, _) = try folder.store().verify(run: "r1") else {
      return #expect(Bool(false), "the chain continues")
    }
  }
}
#endif
