#if Fleet
import Foundation
import GRDB
import Glibc
import OtaflashFleet

@testable import OtaflashFleetStore

/// A separate folder for the store of one test, which is removed at the end of the test.
final class StoreFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: url) } catch {
      print("\(url.path) stays: \(error)")
    }
  }

  var path: String { url.appending(path: "fleet.sqlite").path }

  func store(isReadOnly: Bool = false) throws -> FleetStore {
    try FleetStore(path: path, isReadOnly: isReadOnly)
  }

  /// Copies the files in the state that remains if a process is killed while a commit overwrites
  /// pages.
  func copyInsideACommit(to other: StoreFolder) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { database in
      // Pages leave the cache, and so are written to the file, before the commit.
      try database.execute(sql: "PRAGMA cache_size = 1; BEGIN IMMEDIATE")
      try database.execute(sql: "UPDATE run SET campaign = hex(zeroblob(200000)), length = 99")
      try database.execute(sql: "INSERT INTO blob VALUES ('x', zeroblob(200000))")
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: other.path + suffix)
      }
      try database.execute(sql: "ROLLBACK")
    }
  }

  func mode() throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// `false` mounts the folder over itself read-only, as in a backup; `true` removes the mount.
  func setWritable(_ isWritable: Bool) throws {
    struct Refused: Error {}
    guard isWritable else {
      let flags = UInt(MS_REMOUNT | MS_BIND | MS_RDONLY)
      guard mount(url.path, url.path, "", UInt(MS_BIND), "") == 0,
        mount(url.path, url.path, "", flags, "") == 0
      else { throw Refused() }
      return
    }
    guard umount2(url.path, Int32(MNT_DETACH)) == 0 else { throw Refused() }
  }

  func makeWritableAgain() {
    do { try setWritable(true) } catch { print("\(url.path) stays mounted") }
  }

  /// SQL that changes a store of the current version to the tables of the first version.
  static let backToFirstVersion = """
    DROP TABLE IF EXISTS device; DROP TABLE IF EXISTS taken_over; DROP TABLE started;
    \(withNews)
    PRAGMA user_version = 1
    """

  /// SQL that adds the tables of stores up to version 4 for jobs and for reports of workers.
  static let withNews = """
    CREATE TABLE job (run TEXT NOT NULL);
    CREATE TABLE news (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL, device TEXT NOT NULL,
      attempt INTEGER NOT NULL, fact TEXT NOT NULL
    ) STRICT;
    ALTER TABLE run ADD COLUMN news_seen INTEGER NOT NULL DEFAULT 0;
    """

  /// Executes SQL, as a user with `sqlite3` can do.
  func sql(_ text: String) throws {
    try DatabaseQueue(path: path).writeWithoutTransaction { try $0.execute(sql: text) }
  }
}

enum Sample {
  static let now = WallClockTime(milliseconds: 1_795_435_200_000)
  static let beginning = FleetEvent.runBegan(
    RunBeginning(id: "r1", campaign: "doors", digest: "d", devices: 2, waves: 1))
  static let planned = FleetEvent.wavePlanned(
    wave: 0, name: "all", devices: [RunDevice(id: "a", image: "i"), RunDevice(id: "b", image: "i")])

  /// Records a run of ten events.
  static func record(_ store: FleetStore, run: String = "r1") async throws {
    let ledger = store.ledger(of: run)
    var first = beginning
    if run != "r1" {
      first = .runBegan(
        RunBeginning(id: run, campaign: "doors", digest: "d", devices: 2, waves: 1))
    }
    try await ledger.append([first, planned, .waveBegan(wave: 0)], at: now)
    for (index, device) in ["a", "b"].enumerated() {
      try await ledger.append(
        [
          .devicePublished(device: device, attempt: 1, verifyFirst: false),
          .deviceClaimed(device: device, attempt: 1, worker: "w"),
          .deviceSettled(device: device, ending: .updated),
        ], at: now.advanced(by: .seconds(index + 1)))
    }
    try await ledger.append([.runEnded(.complete(failed: 0))], at: now)
  }
}
#endif
