import Testing

@testable import OtaflashState

@Suite("Update journal")
struct UpdateJournalTests {
  private static func entry(_ device: String) -> UpdateJournal.Entry {
    UpdateJournal.Entry(
      device: device, imageName: "app-1.3.0.bin", imageSize: 262_144, imageCRC32: 0xC7A1_B15E,
      acknowledged: 98_304, started: 1000.5, updated: 1002)
  }

  @Test("is one file for each device, and is removed when the update has ended")
  func roundTrip() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let device = "unix:/run/door"
    let journal = UpdateJournal(device: device, in: directory)
    #expect(try journal.read() == Recalled(content: nil, setAside: nil))
    try journal.write(Self.entry(device))
    var later = Self.entry(device)
    later.acknowledged = 180_224
    later.updated = 1003
    try journal.write(later)
    #expect(try UpdateJournal(device: device, in: directory).read().content == later)
    #expect(try UpdateJournal(device: "other", in: directory).read().content == nil)
    #expect(try names(in: directory.journalPath) == ["unix%3A%2Frun%2Fdoor.json"])
    try journal.remove()
    try journal.remove()
    #expect(try names(in: directory.journalPath) == [])
  }

  @Test("a damaged entry is renamed; an entry of another device is ignored")
  func damaged() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let path = directory.journalPath + "/a.json"
    try AtomicFile(path: path, limit: 10).replace(with: [0xFF, 0])
    let journal = UpdateJournal(device: "a", in: directory)
    #expect(try journal.read() == Recalled(content: nil, setAside: path + ".damaged"))
    let other = UpdateJournal(device: "b", in: directory)
    try other.write(Self.entry("b"))
    let bytes = try #require(
      try AtomicFile(path: directory.journalPath + "/b.json", limit: 1000).read())
    try AtomicFile(path: path, limit: 1000).replace(with: bytes)
    #expect(try journal.read() == Recalled(content: nil, setAside: nil))
  }

  @Test("a full disk keeps the former entry")
  func fullDisk() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    try UpdateJournal(device: "a", in: directory).write(Self.entry("a"))
    let full = UpdateJournal(device: "a", in: directory, writing: .full(after: 10))
    #expect(throws: StateFault.diskFull(path: directory.journalPath + "/a.json")) {
      try full.write(Self.entry("a"))
    }
    #expect(try full.read().content == Self.entry("a"))
  }
}
