import Foundation
import Glibc
import OtaflashFirmware
import Synchronization
import Testing

@testable import OtaflashState

@Suite struct BaseImagesTests {
  /// A new state directory that contains stores. The stores share a clock, which advances at each
  /// reading.
  final class Place: Sendable {
    let directory: StateDirectory
    private let ticks = Mutex(0)
    private let reported = Mutex<[String]>([])

    init(_ temporary: borrowing TemporaryDirectory) throws { directory = try temporary.state() }

    var folder: String { directory.imagesPath }
    var setAside: [String] { reported.withLock { $0 } }

    /// The files of images; the lock file is excluded.
    var files: [String] {
      get throws { try names(in: folder).filter { $0 != "lock" } }
    }

    func store(
      limit: Int = 1000, patience: FileTurn.Patience = FileTurn.patience,
      writing: FileWriting = .system
    ) -> BaseImages {
      BaseImages(
        in: directory, limit: limit, patience: patience, writing: writing,
        now: { [self] in
          let tick = ticks.withLock {
            $0 += 1
            return $0
          }
          return timespec(tv_sec: 1_700_000_000, tv_nsec: tick)
        }, { [self] path in reported.withLock { $0.append(path) } })
    }
  }

  private static func find(_ bytes: [UInt8], in store: BaseImages) throws -> [UInt8]? {
    try store.find(size: UInt32(bytes.count), crc32: CRC32.checksum(bytes))
  }

  @Test func anImageIsFoundByItsReportedSizeAndChecksum() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let store = place.store()
    let image = Array("123456789".utf8)
    #expect(try store.find(size: 9, crc32: 0xCBF4_3926) == nil)
    try store.keep(image)
    try store.keep(image)
    let name =
      "0000000009-cbf43926-15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"
    #expect(try place.files == [name])
    let attributes = try FileManager.default.attributesOfItem(atPath: place.folder + "/" + name)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try place.store().find(size: 9, crc32: 0xCBF4_3926) == image)
    #expect(try store.find(size: 8, crc32: 0xCBF4_3926) == nil)
    #expect(try store.find(size: 9, crc32: 0xCBF4_3927) == nil)
  }

  @Test func theLeastRecentlyUsedImageIsRemovedFirst() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let store = place.store(limit: 300)
    let images = (0..<4).map { [UInt8](repeating: $0, count: 100) }
    for image in images[..<3] { try store.keep(image) }
    // An image that is found or stored again counts as used.
    #expect(try Self.find(images[0], in: store) != nil)
    try store.keep(images[1])
    try store.keep(images[3])
    #expect(try place.files.count == 3)
    #expect(try Self.find(images[2], in: store) == nil)
    for kept in [0, 1, 3] { #expect(try Self.find(images[kept], in: store) == images[kept]) }
  }

  @Test func anImageThatExceedsTheLimitIsNotStored() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let store = place.store(limit: 10)
    try store.keep([1, 2])
    try store.keep([UInt8](repeating: 0, count: 11))
    #expect(try place.files.count == 1)
    try store.keep([UInt8](repeating: 0, count: 10))
    #expect(try Self.find([1, 2], in: store) == nil)
    #expect(try place.files.count == 1)
  }

  @Test func theNumberOfSmallImagesIsLimited() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let writing = FileWriting(write: FileWriting.system.write, flush: { _ in 0 })
    let store = place.store(limit: 100_000, writing: writing)
    for number in 0..<BaseImages.capacity + 3 {
      try store.keep([UInt8(number >> 8), UInt8(number & 0xFF)])
    }
    #expect(try place.files.count == BaseImages.capacity)
    #expect(try Self.find([0, 2], in: store) == nil)
    #expect(try Self.find([0, 3], in: store) != nil)
  }

  /// The second argument has the same size and the same CRC32 as the image.
  @Test(arguments: ["plumlest", "buckeroo", "plumles", "plumless!", ""])
  func aDamagedFileIsNotUsed(_ damage: String) throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let store = place.store()
    let image = Array("plumless".utf8)
    try store.keep(image)
    let path = place.folder + "/" + BaseImageName(of: image).text
    try Data(damage.utf8).write(to: URL(filePath: path))
    #expect(try Self.find(image, in: store) == nil)
    #expect(place.setAside == [path + ".damaged"])
    #expect(try content(path + ".damaged") == damage)
    try store.keep(image)
    #expect(try Self.find(image, in: store) == image)
    // The damaged file counts towards the limit, and is removed before any image.
    try place.store(limit: 8).keep(image.reversed())
    #expect(try place.files == [BaseImageName(of: image.reversed()).text])
  }

  @Test func storingAnImageReplacesItsDamagedFile() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let store = place.store()
    let image = Array("plumless".utf8)
    try store.keep(image)
    let path = place.folder + "/" + BaseImageName(of: image).text
    try Data("buckeroo".utf8).write(to: URL(filePath: path))
    try store.keep(image)
    #expect(place.setAside == [path + ".damaged"])
    #expect(try Self.find(image, in: store) == image)
  }

  @Test func theNewerOfTwoIndistinguishableImagesIsFound() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let store = try Place(temporary).store()
    for text in ["plumless", "buckeroo", "plumless"] {
      try store.keep(Array(text.utf8))
      #expect(try store.find(size: 8, crc32: 0x4DDB_0C25) == Array(text.utf8))
    }
  }

  @Test func aFullDiskIsReported() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    try place.store().keep([1, 2, 3])
    let image = [UInt8](0..<100)
    let path = place.folder + "/" + BaseImageName(of: image).text
    #expect(throws: StateFault.diskFull(path: path)) {
      try place.store(writing: .full(after: 10)).keep(image)
    }
    #expect(try place.files.count == 1)
    #expect(try Self.find([1, 2, 3], in: place.store()) == [1, 2, 3])
  }

  @Test func incompleteFilesAreRemovedAndForeignFilesAreKept() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let draft = BaseImageName(of: [7]).text + ".4711.new"
    for name in [draft, "README", "a.new"] {
      try Data([1]).write(to: URL(filePath: place.folder + "/" + name))
    }
    try place.store(limit: 1).keep([1])
    #expect(try place.files == [BaseImageName(of: [1]).text, "README", "a.new"])
  }

  @Test func concurrentProcessesDoNotConflict() async throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<12 {
            let image = [UInt8](repeating: UInt8((worker + round) % 6), count: 100)
            try place.store(limit: 350).keep(image)
            _ = try Self.find(image, in: place.store(limit: 350))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(place.setAside == [])
    #expect(try place.files.count == 3)
  }

  @Test func theWaitForALockedDirectoryEnds() throws {
    let temporary = try TemporaryDirectory()
    defer { extendLifetime(temporary) }
    let place = try Place(temporary)
    let path = place.folder + "/lock"
    let turn = try FileTurn(at: path, within: FileTurn.patience)
    defer { extendLifetime(turn) }
    let impatient = FileTurn.Patience(attempts: 2, interval: .nanoseconds(1))
    #expect(throws: StateFault.registryBusy(path: path, waited: impatient.total)) {
      try place.store(patience: impatient).keep([1])
    }
  }

  @Test(arguments: [
    "", "lock", "0000000009-cbf43926-", "9-cbf43926-" + String(repeating: "a", count: 64),
    "0000000009-CBF43926-" + String(repeating: "a", count: 64),
    "0000000009-cbf43926-" + String(repeating: "A", count: 64),
    "0000000009--cbf43926-" + String(repeating: "a", count: 64),
    "9999999999-cbf43926-" + String(repeating: "a", count: 64),
  ])
  func filesWithOtherNamesAreIgnored(_ name: String) { #expect(BaseImageName(name) == nil) }
}
