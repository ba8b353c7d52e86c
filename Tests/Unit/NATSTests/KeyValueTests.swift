#if Sites
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Buckets, on both versions of the server.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct KeyValueTests {
  static func bucket(
    _ server: NATSServer,
    _ configuration: KeyValueConfiguration = .init(bucket: "STATE", history: 10)
  ) async throws -> KeyValueBucket {
    try await KeyValueBucket(configuration, of: try await server.jetStream())
  }

  @Test(arguments: NATSServer.Version.allCases)
  func onlyTheExpectedRevisionIsReplaced(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    #expect(try await state.entry("kitchen.a") == nil)
    let first = try #require(try await state.create("kitchen.a", [1]))
    #expect(try await state.create("kitchen.a", [2]) == nil)
    let second = try #require(try await state.update("kitchen.a", [3], expecting: first))
    #expect(try await state.update("kitchen.a", [4], expecting: first) == nil)
    #expect(try await state.delete("kitchen.a", expecting: first) == nil)
    let entry = try #require(try await state.entry("kitchen.a"))
    #expect(entry.value == [3] && entry.revision == second && entry.key == "kitchen.a")
    // The revision of another key does not count.
    #expect(try await state.put("kitchen.b", []) == second + 1)
    #expect(try await state.delete("kitchen.a", expecting: second) != nil)
    #expect(try await state.entry("kitchen.a") == nil)
    #expect(try await state.create("kitchen.a", [5]) != nil)
    let history = try await state.entries("kitchen.a", includingHistory: true)
    #expect(history.map(\.value) == [[1], [3], [], [5]])
    #expect(history.map(\.isDeleted) == [false, false, true, false])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func ofManyWritersOneSucceeds(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    let revision = try await state.put("a", [])
    let winners = try await withThrowingTaskGroup(of: UInt64?.self) { group in
      for number in 0..<20 {
        group.addTask { try await state.update("a", [UInt8(number)], expecting: revision) }
      }
      return try await group.reduce(0) { $0 + ($1 == nil ? 0 : 1) }
    }
    #expect(winners == 1)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func entriesDisappearAfterTheirLifetime(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let presence = try await Self.bucket(
      server, KeyValueConfiguration(bucket: "PRESENCE", lifetime: .seconds(1), storage: .memory))
    try await presence.put("gateway", [1])
    while try await presence.entry("gateway") != nil {}
    #expect(try await presence.create("gateway", [2]) != nil)
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aWatchReportsEntriesAndChanges(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    try await state.put("kitchen.a", [1])
    try await state.put("kitchen.a", [2])
    try await state.put("hall.x", [9])
    var watch = state.watch("kitchen.>").makeAsyncIterator()
    guard case .entry(let first) = try await watch.next(isolation: nil) else {
      throw NATSFault.closed
    }
    #expect(first.value == [2] && first.key == "kitchen.a")
    #expect(try await watch.next(isolation: nil) == .current)
    try await state.put("hall.x", [8])
    try await state.put("kitchen.b", [3])
    try await state.delete("kitchen.a")
    var changes: [KeyValueEntry] = []
    while changes.count < 2, case .entry(let entry) = try await watch.next(isolation: nil) {
      changes.append(entry)
    }
    #expect(changes.map(\.key) == ["kitchen.b", "kitchen.a"])
    #expect(changes.map(\.isDeleted) == [false, true])
    var empty = state.watch("cellar.>").makeAsyncIterator()
    #expect(try await empty.next(isolation: nil) == .current)
  }

  /// The bucket has more entries than a watch holds for its reader.
  @Test(arguments: NATSServer.Version.allCases)
  func aSlowReaderMissesNoEntry(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    let count = 4000
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<20 {
        group.addTask {
          for number in stride(from: worker, to: count, by: 20) {
            try await state.put("k.\(number)", [1])
          }
        }
      }
      try await group.waitForAll()
    }
    let keys = try await state.entries().map(\.key)
    #expect(keys.count == count && Set(keys).count == count)
  }

  /// The server sends entries again that are not acknowledged within a millisecond.
  @Test(arguments: NATSServer.Version.allCases)
  func aWatchReportsEachRevisionOnce(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    for number in 0..<10 { try await state.put("k.\(number)", [1]) }
    var hasty = state.watch()
    hasty.acknowledgementLimit = .milliseconds(1)
    var watch = hasty.makeAsyncIterator()
    var revisions: [UInt64] = []
    while case .entry(let entry) = try await watch.next(isolation: nil) {
      revisions.append(entry.revision)
      for _ in 0..<20 { _ = try await state.entry("k.0") }
    }
    let last = try await state.put("k.10", [1])
    while revisions.last != last, case .entry(let entry)? = try await watch.next(isolation: nil) {
      revisions.append(entry.revision)
    }
    #expect(revisions == Array(1...11))
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aWatchContinuesAfterACrash(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    try await state.put("a", [1])
    var watch = state.watch().makeAsyncIterator()
    _ = try await watch.next(isolation: nil)
    #expect(try await watch.next(isolation: nil) == .current)
    server.kill()
    try await server.start()
    let other = try KeyValueBucket("STATE", of: try await server.jetStream())
    try await other.put("a", [2])
    try await other.put("b", [3])
    var values: [[UInt8]] = []
    while values.count < 2, case .entry(let entry) = try await watch.next(isolation: nil) {
      values.append(entry.value)
    }
    #expect(values == [[2], [3]])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aCancelledWatchEnds(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    let state = try await KeyValueBucket(KeyValueConfiguration(bucket: "STATE"), of: stream)
    let task = Task {
      for try await _ in state.watch() {}
    }
    while try await stream.stream("KV_STATE").content.consumers == 0 {}
    task.cancel()
    await #expect(throws: NATSFault.self) { try await task.value }
    // The consumer of the cancelled watch ends without requests; the second watch has another
    // consumer.
    try await state.put("a", [1])
    #expect(try await state.entries().map(\.key) == ["a"])
  }

  @Test(arguments: NATSServer.Version.allCases)
  func largeValuesAreRefusedOrArriveWhole(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let state = try await Self.bucket(server)
    let maximum = await state.payloadMaximum
    #expect(maximum == 1 << 20)
    let value = (0..<maximum - 1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try await state.put("large", value)
    #expect(try await state.entry("large")?.value == value)
    let tooLarge = [UInt8](repeating: 0, count: maximum + 1)
    await #expect(throws: NATSFault.tooLarge(bytes: maximum + 1)) {
      try await state.put("large", tooLarge)
    }
  }
}
#endif
