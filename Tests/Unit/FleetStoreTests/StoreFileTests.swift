#if Fleet
import Foundation
import GRDB
import OtaflashFleet
import Testing

@testable import OtaflashFleetStore

/// Tests of damaged and unusable files: each must be reported as a clear fault, and no data may be
/// lost.
@Suite struct StoreFileTests {
  /// GRDB changes the setting in some modes, so FULL is read back from the connection.
  @Test func everyCommitIsFlushed() throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    let settings = try store.read { database in
      [
        try Int.fetchOne(database, sql: "PRAGMA synchronous"),
        try Int.fetchOne(database, sql: "PRAGMA foreign_keys"),
        try Int.fetchOne(database, sql: "PRAGMA user_version"),
        try Int.fetchOne(database, sql: "PRAGMA application_id"),
      ]
    }
    #expect(settings == [2, 1, StoreSchema.version, Int(StoreFile.applicationID)])
    let journal = try store.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
    #expect(journal == "delete")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "-wal"))
  }

  @Test func aDamagedStoreIsRenamedAndReplaced() async throws {
    let folder = try StoreFolder()
    try Data("this is no database, but long enough to be looked at as one".utf8)
      .write(to: URL(filePath: folder.path))
    let store = try folder.store()
    #expect(store.setAside == folder.path + ".damaged")
    #expect(try store.runs().isEmpty)
    try await Sample.record(store)
    #expect(try folder.store().runs().count == 1)
  }

  /// SQLite would wait for a process that writes to the pipe.
  @Test(arguments: [true, false]) func aPipeIsNotAStore(_ isReadOnly: Bool) throws {
    let folder = try StoreFolder()
    #expect(mkfifo(folder.path, 0o600) == 0)
    let fault = #expect(throws: StorageFault.self) {
      try FleetStore(path: folder.path, isReadOnly: isReadOnly)
    }
    #expect(fault?.kind == .system && fault?.words.contains("not a regular file") == true)
  }

  /// Each page is filled with noise, one at a time. The store must report this, or return the
  /// recorded events.
  @Test func noiseInAnyPageIsDetected() async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    let whole = try Data(contentsOf: URL(filePath: folder.path))
    let pageSize = 4096
    var found = 0
    for page in 0..<(whole.count / pageSize) {
      var damaged = whole
      for offset in 0..<pageSize { damaged[page * pageSize + offset] = UInt8(offset * 31 & 0xFF) }
      try damaged.write(to: URL(filePath: folder.path))
      let store = try folder.store()
      if store.setAside != nil {
        found += 1
      } else {
        #expect(try store.verify(run: "r1") == .intact(events: 10, head: try Self.head(whole)))
      }
      if store.setAside != nil {
        try FileManager.default.removeItem(atPath: folder.path + ".damaged")
      }
    }
    #expect(found > 3)
  }

  private static func head(_ whole: Data) throws -> [UInt8] {
    let folder = try StoreFolder()
    try whole.write(to: URL(filePath: folder.path))
    guard case .intact(_, let head) = try folder.store().verify(run: "r1") else { return [] }
    return head
  }

  @Test func filesRenamedEarlierAreKept() throws {
    let folder = try StoreFolder()
    for expected in [".damaged", ".damaged-2", ".damaged-3"] {
      try Data(repeating: 7, count: 5000).write(to: URL(filePath: folder.path))
      #expect(try folder.store().setAside == folder.path + expected)
    }
  }

  @Test func aStoreOfALaterVersionIsNotChanged() throws {
    let folder = try StoreFolder()
    _ = try folder.store()
    try folder.sql("PRAGMA user_version = 99")
    let before = try Data(contentsOf: URL(filePath: folder.path))
    expectFault(.newerVersion) { () throws(StorageFault) in try FleetStore(path: folder.path) }
    #expect(try Data(contentsOf: URL(filePath: folder.path)) == before)
  }

  @Test func aDatabaseOfAnotherProgramIsNotChanged() throws {
    let folder = try StoreFolder()
    try folder.sql("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
    expectFault(.system) { () throws(StorageFault) in try FleetStore(path: folder.path) }
    try folder.sql("INSERT INTO theirs VALUES (2)")
  }

  /// Several connections, as of several processes, open a file that does not exist yet, or that an
  /// earlier version wrote.
  @Test(arguments: ["", StoreFolder.backToFirstVersion])
  func manyProcessesMayCreateTheStoreConcurrently(_ sql: String) async throws {
    for _ in 0..<20 {
      let folder = try StoreFolder()
      if !sql.isEmpty {
        _ = try folder.store()
        try folder.sql(sql)
      }
      let path = folder.path
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try FleetStore(path: path).runs() } }
        try await group.waitForAll()
      }
    }
  }

  @Test func aMissingFolderIsAFault() throws {
    let folder = try StoreFolder()
    expectFault(.system) { () throws(StorageFault) in
      try FleetStore(path: folder.path + ".none/fleet.sqlite")
    }
  }

  @Test func aLockedStoreIsReportedAfterTheTimeLimit() throws {
    let folder = try StoreFolder()
    _ = try folder.store()
    let other = try DatabaseQueue(path: folder.path)
    try other.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN EXCLUSIVE")
      expectFault(.locked) { () throws(StorageFault) in
        try FleetStore(
          StoreFile(path: folder.path, isReadOnly: false, patience: .milliseconds(50)))
      }
      try database.execute(sql: "ROLLBACK")
    }
    _ = try folder.store()
  }

  @Test func aReaderChangesNothing() async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    let store = try folder.store(isReadOnly: true)
    #expect(try store.runs().count == 1)
    expectFault(.readOnly) { () throws(StorageFault) in
      try store.request(.pause, of: "r1", at: Sample.now)
    }
    expectFault(.readOnly) { () throws(StorageFault) in try store.keep(blob: [1], digest: "d") }
  }

  /// A process that is killed within a commit leaves a journal. A reader must see the last complete
  /// commit, even in a folder that cannot be written.
  @Test(arguments: canMount ? [false, true] : [false])
  func aReaderSeesTheLastCommitAfterAKillInsideTheNext(_ isReadOnlyFolder: Bool) async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    let killed = try StoreFolder()
    try folder.copyInsideACommit(to: killed)
    let journal = killed.path + "-journal"
    #expect(FileManager.default.fileExists(atPath: journal))
    if isReadOnlyFolder { try killed.setWritable(false) }
    defer { if isReadOnlyFolder { killed.makeWritableAgain() } }
    for _ in 0..<2 {
      let store = try killed.store(isReadOnly: true)
      #expect(try store.runs().first?.events == 10)
      guard case .intact(10, _) = try store.verify(run: "r1") else {
        return #expect(Bool(false), "the ten events of the last commit are there")
      }
      expectFault(.readOnly) { () throws(StorageFault) in
        try store.request(.pause, of: "r1", at: Sample.now)
      }
    }
  }

  @Test func theFileIsForItsUserOnly() throws {
    let folder = try StoreFolder()
    _ = try folder.store()
    #expect(try folder.mode() == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path)
    _ = try folder.store()
    #expect(try folder.mode() == 0o600)
  }

  /// Numbers and sequences of events that otaflash never writes are reported as a fault, and the
  /// file is not renamed.
  @Test(arguments: [
    "PRAGMA user_version = -1", "UPDATE event SET at = -9223372036854775808 WHERE number = 3",
    "UPDATE run SET began = 9223372036854775807", "UPDATE run SET length = -1",
    "UPDATE event SET payload = replace(payload, ':1,', ':9223372036854775807,') WHERE number = 4",
    #"UPDATE event SET payload = '{"waveBegan":{"wave":-1}}' WHERE number = 3"#,
    #"UPDATE event SET payload = '{"waveBegan":{"wave":1000000000000000000}}' WHERE number = 3"#,
    #"UPDATE event SET payload = '{"deviceDeferred":{"device":"a","until":9223372036854775807}}' "#
      + "WHERE number = 3",
    "UPDATE event SET payload = (SELECT payload FROM event WHERE number = 1) WHERE number = 3",
    "UPDATE event SET payload = (SELECT payload FROM event WHERE number = 2) WHERE number = 3",
    "UPDATE event SET payload = (SELECT payload FROM event WHERE number = 3) WHERE number = 1",
    "DELETE FROM event",
  ])
  func anInvalidNumberIsAFault(_ sql: String) async throws {
    let folder = try StoreFolder()
    try await Sample.record(try folder.store())
    try folder.sql("DROP TRIGGER event_stays; DROP TRIGGER event_remains; " + sql)
    for isReadOnly in [true, false] {
      var found: StorageFault?
      do {
        let store = try folder.store(isReadOnly: isReadOnly)
        #expect(store.setAside == nil)
        _ = try store.runs()
        _ = try await store.ledger(of: "r1").history()
      } catch {
        found = error as? StorageFault
      }
      #expect(found?.kind == .unsound, "\(String(describing: found))")
    }
  }

  @Test func runsAreListedInTheOrderOfInsertion() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    for (id, year) in [("ahead", 2100), ("old", 1969), ("last", 2026)] {
      let began = WallClockTime(milliseconds: Int64(year - 1970) * 31_557_600_000)
      try await store.ledger(of: id).append(
        [.runBegan(RunBeginning(id: id, campaign: "c", digest: "d", devices: 0, waves: 0))],
        at: began)
    }
    #expect(try store.runs().map(\.id) == ["last", "old", "ahead"])
    #expect(try store.run(named: nil).id == "last")
    #expect(try store.run(named: nil, isActive: { $0 == "ahead" }).id == "ahead")
  }

  @Test func aReaderDoesNotCreateAFile() throws {
    let folder = try StoreFolder()
    #expect(throws: StorageFault.self) { try folder.store(isReadOnly: true) }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
  }

  /// Six limits on the size of the file simulate a full disk. A refused append must have no effect,
  /// and all earlier events must remain readable.
  @Test func aFullDiskLosesNoEvents() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    let ledger = store.ledger(of: "r1")
    try await ledger.append([Sample.beginning, Sample.planned], at: Sample.now)
    let pages = try store.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    var recorded = 2
    var refusals = 0
    for extra in 1...6 {
      try await store.file.queue.writeWithoutTransaction {
        _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages + extra)")
      }
      while true {
        let names = (0..<20).map { "\(recorded)-\($0)" }
        do throws(StorageFault) {
          try await ledger.append(
            names.map { .deviceRetried(device: $0) }, at: Sample.now)
          recorded += names.count
        } catch {
          #expect(error.kind == .full, "\(error)")
          refusals += 1
          break
        }
      }
      guard case .intact(recorded, _) = try store.verify(run: "r1") else {
        return #expect(Bool(false), "the chain is whole with \(recorded) events")
      }
    }
    #expect(refusals == 6)
  }

  /// Whether the test may mount a file system.
  private static let canMount: Bool = {
    do { return try SmallDisk.mount(bytes: 65_536).unmount() } catch { return false }
  }()

  /// The disk is full, and is then mounted read-only.
  @Test(.enabled(if: canMount, "mount(2) may not be called here"))
  func aFullOrReadOnlyDiskLosesNoEvents() async throws {
    let disk = try SmallDisk.mount(bytes: 256 * 1024)
    defer { #expect(disk.unmount()) }
    let path = disk.path + "/fleet.sqlite"
    var store: FleetStore? = try FleetStore(path: path)
    try await Sample.record(try #require(store))
    var (recorded, refusal) = (10, StorageFault?.none)
    while refusal == nil {
      let events = (0..<20).map { FleetEvent.deviceRetried(device: "\(recorded)-\($0)") }
      do throws(StorageFault) {
        try await store?.ledger(of: "r1").append(events, at: Sample.now)
        recorded += events.count
      } catch {
        refusal = error
      }
    }
    #expect(refusal?.kind == .full && refusal?.words.contains("the disk is full") == true)
    guard case .intact(recorded, _)? = try store?.verify(run: "r1") else {
      return #expect(Bool(false), "all \(recorded) events are there")
    }
    store = nil
    try disk.makeReadOnly()
    expectFault(.readOnly) { () throws(StorageFault) in
      try FleetStore(path: path).request(.pause, of: "r1", at: Sample.now)
    }
    let read = try FleetStore(path: path, isReadOnly: true)
    #expect(try read.runs().first?.events == recorded)
  }

  @Test func imagesAreKeptByTheirDigest() throws {
    let folder = try StoreFolder()
    let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for _ in 0..<2 { try folder.store().keep(blob: bytes, digest: "d") }
    try folder.store().keep(blob: [], digest: "none")
    #expect(try folder.store().blob("d") == bytes)
    #expect(try folder.store().blob("none").isEmpty)
    let store = try folder.store()
    expectFault(.unsound) { () throws(StorageFault) in try store.blob("x") }
  }

  private func expectFault<Value>(
    _ kind: StorageFault.Kind, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws(StorageFault) -> Value
  ) {
    do throws(StorageFault) {
      _ = try body()
      Issue.record("nothing was refused", sourceLocation: sourceLocation)
    } catch {
      #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
      #expect(!error.words.isEmpty, sourceLocation: sourceLocation)
    }
  }
}
#endif
