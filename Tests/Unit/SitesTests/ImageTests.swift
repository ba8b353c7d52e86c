#if Sites
import Crypto
import Foundation
import OtaflashFleet
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Synchronization
import Testing

/// The transfer of images, and the folder of a gateway.
@Suite struct ImageTests {
  static let chunk = ImageManifest.chunkSize

  /// Bytes of an image that differ between chunks.
  static func image(_ seed: Int, chunks: Int = 3, and rest: Int = 1000) -> [UInt8] {
    (0..<chunks * chunk + rest).map { UInt8(truncatingIfNeeded: ($0 >> 7) &* 31 &+ $0 &+ seed) }
  }

  static func digest(_ bytes: [UInt8]) -> String {
    SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
  }

  let folders = TemporaryFolders()

  static func cache(
    _ entries: any SiteEntries, _ folder: TemporaryFolders.Folder, limit: Int = 10 << 20
  ) throws -> ImageCache {
    try ImageCache(entries, folder: folder.path, limit: limit)
  }

  // MARK: Upload

  @Test func anImageIsStoredInChunks() async throws {
    let entries = MemoryEntries()
    let bytes = Self.image(1)
    let report = try await ImageUpload(entries).store(bytes)
    #expect(report.digest == Self.digest(bytes) && report.chunksSent == 4)
    #expect(
      entries.puts == (0..<4).map { "\(report.digest).\($0)" } + ["\(report.digest).manifest"])
    entries.forgetCalls()
    #expect(try await ImageUpload(entries).store(bytes).chunksSent == 0)
    #expect(entries.puts == [])
    #expect(try await ImageUpload(entries).stored() == [report.digest])
    try await ImageUpload(entries).remove(report.digest)
    #expect(try await ImageUpload(entries).stored() == [])
    #expect(try await ImageUpload(entries).store(bytes).chunksSent == 4)
  }

  /// The upload fails at each of its writes: either the request or the reply is lost.
  @Test(arguments: [MemoryEntries.Loss.request, .reply])
  func anInterruptedUploadContinues(_ loss: MemoryEntries.Loss) async throws {
    let bytes = Self.image(2)
    for failing in 0..<5 {
      let count = Mutex(0)
      let entries = MemoryEntries { call, _ in
        guard call == .write else { return .none }
        return count.withLock { count in
          count += 1
          return count == failing + 1 ? loss : .none
        }
      }
      let upload = ImageUpload(entries)
      await #expect(throws: SiteImageFault.unavailable(.timedOut)) { try await upload.store(bytes) }
      let before = Set(entries.puts)
      #expect(try await upload.stored().isEmpty == (failing < 4 || loss == .request))
      entries.forgetCalls()
      try await upload.store(bytes)
      #expect(before.isDisjoint(with: entries.puts))
      #expect(before.count + entries.puts.count == 5)
    }
  }

  // MARK: Download

  @Test(arguments: [(0, 0), (0, 1), (1, 0), (3, 1000)])
  func aGatewayReceivesTheImage(_ chunks: Int, _ rest: Int) async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(3, chunks: chunks, and: rest)
    let digest = try await ImageUpload(entries).store(bytes).digest
    let cache = try Self.cache(entries, folder)
    #expect(try await cache.acquire(digest) == bytes)
    #expect(try folder.files == ["\(digest).image"])
    entries.forgetCalls()
    #expect(try await cache.acquire(digest) == bytes)
    #expect(entries.reads == [])
  }

  /// The download fails at each of its reads. The next process reads the manifest and only the
  /// missing chunks.
  @Test func anInterruptedDownloadContinues() async throws {
    let bytes = Self.image(4)
    for failing in 0..<5 {
      let folder = folders.make()
      let count = Mutex(-100)
      let entries = MemoryEntries { call, _ in
        guard call == .read else { return .none }
        return count.withLock { count in
          count += 1
          return count == failing + 1 ? .request : .none
        }
      }
      let digest = try await ImageUpload(entries).store(bytes).digest
      count.withLock { $0 = 0 }
      let first = try Self.cache(entries, folder)
      await #expect(throws: SiteImageFault.unavailable(.timedOut)) {
        try await first.acquire(digest)
      }
      entries.forgetCalls()
      #expect(try await Self.cache(entries, folder).acquire(digest) == bytes)
      #expect(entries.reads.count == 1 + 4 - max(0, failing - 1))
      #expect(try folder.files == ["\(digest).image"])
    }
  }

  @Test func aDamagedPartOfATransferIsReadAgain() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(5)
    let digest = try await ImageUpload(entries).store(bytes).digest
    let cache = try Self.cache(entries, folder)
    var partial = bytes
    partial[Self.chunk + 5] ^= 1
    for length in [bytes.count, bytes.count + 999, Self.chunk * 2 + 1, 0] {
      try Data(partial.prefix(length) + [UInt8](repeating: 7, count: max(0, length - bytes.count)))
        .write(to: folder.file("\(digest).part"))
      #expect(try await cache.acquire(digest) == bytes)
      try FileManager.default.removeItem(at: folder.file("\(digest).image"))
    }
  }

  @Test func damagedEntriesAreRefused() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(6)
    let digest = try await ImageUpload(entries).store(bytes).digest
    let cache = try Self.cache(entries, folder)
    let manifest = try #require(try await entries.current("\(digest).manifest")).value
    // Another image under this digest, with its own sound manifest.
    let other = try await ImageUpload(entries).store(Self.image(7)).digest
    entries.set(
      "\(digest).manifest", try #require(try await entries.current("\(other).manifest")).value)
    await #expect(throws: SiteImageFault.damaged(digest: digest)) {
      try await cache.acquire(digest)
    }
    for value in [Array("{}".utf8), [], Array(manifest.dropLast(2))] {
      entries.set("\(digest).manifest", value)
      await #expect(throws: SiteImageFault.damaged(digest: digest)) {
        try await cache.acquire(digest)
      }
    }
    entries.set("\(digest).manifest", manifest)
    for value in [[], [1, 2, 3], [UInt8](repeating: 0, count: Self.chunk)] as [[UInt8]] {
      entries.set("\(digest).1", value)
      await #expect(throws: SiteImageFault.damaged(digest: digest)) {
        try await cache.acquire(digest)
      }
    }
    entries.set("\(digest).1", nil)
    await #expect(throws: SiteImageFault.absent(digest: digest)) {
      try await cache.acquire(digest)
    }
    // The coordinator repairs the image, and the transfer continues.
    try await ImageUpload(entries).store(bytes, repairs: true)
    #expect(try await cache.acquire(digest) == bytes)
    await #expect(throws: SiteImageFault.absent(digest: Self.digest([]))) {
      try await cache.acquire(Self.digest([]))
    }
  }

  /// Jobs come from entries that other gateways of the site can write.
  @Test(arguments: ["", "../../etc/passwd", "a/b", String(repeating: "A", count: 64), "x.>"])
  func onlyDigestsAreNames(_ digest: String) async throws {
    let folder = folders.make()
    let cache = try Self.cache(MemoryEntries(), folder)
    await #expect(throws: SiteImageFault.invalidDigest(digest)) { try await cache.acquire(digest) }
  }

  // MARK: The folder

  @Test func aDamagedFileIsTransferredAgain() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(8)
    let digest = try await ImageUpload(entries).store(bytes).digest
    let cache = try Self.cache(entries, folder)
    _ = try await cache.acquire(digest)
    for change in [Data(bytes.dropLast()), Data(), Data(Self.image(9))] {
      try change.write(to: folder.file("\(digest).image"))
      #expect(try await cache.acquire(digest) == bytes)
      #expect(try Data(contentsOf: folder.file("\(digest).image")) == Data(bytes))
    }
  }

  @Test func theLeastRecentlyUsedAreRemovedFirst() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let images = (0..<4).map { Self.image($0, chunks: 0, and: 1000) }
    let digests = images.map(Self.digest)
    for image in images { try await ImageUpload(entries).store(image) }
    let cache = try Self.cache(entries, folder, limit: 2999)
    func use(_ index: Int) async throws {
      #expect(try await cache.acquire(digests[index]) == images[index])
      await cache.release(digests[index])
    }
    func files(_ indices: Int...) -> [String] { indices.map { "\(digests[$0]).image" }.sorted() }
    try await use(0)
    try await use(1)
    try await use(0)
    try await use(2)
    #expect(try folder.files == files(0, 2))
    // Both stored images are in use, so the third image is delivered but not stored.
    _ = try await cache.acquire(digests[0])
    _ = try await cache.acquire(digests[2])
    try await use(3)
    #expect(try folder.files == files(0, 2))
    await cache.release(digests[0])
    try await use(3)
    #expect(try folder.files == files(2, 3))
    // The next process uses the times of the files.
    await cache.release(digests[2])
    let early = Date(timeIntervalSince1970: 1_000_000)
    try FileManager.default.setAttributes(
      [.modificationDate: early], ofItemAtPath: folder.file("\(digests[3]).image").path)
    _ = try await Self.cache(entries, folder, limit: 2999).acquire(digests[1])
    #expect(try folder.files == files(1, 2))
  }

  @Test func anImageLargerThanTheFolderIsUsedWithoutIt() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(10)
    let digest = try await ImageUpload(entries).store(bytes).digest
    #expect(try await Self.cache(entries, folder, limit: 1000).acquire(digest) == bytes)
    #expect(try folder.files == [])
  }

  @Test func oneTransferServesAllJobs() async throws {
    let (entries, folder) = (MemoryEntries(), folders.make())
    let bytes = Self.image(11)
    let digest = try await ImageUpload(entries).store(bytes).digest
    let cache = try Self.cache(entries, folder)
    entries.forgetCalls()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          let image = try await cache.acquire(digest)
          #expect(image == bytes)
        }
      }
      try await group.waitForAll()
    }
    #expect(entries.reads.count == 5)
  }

  // MARK: Servers

  @Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct Servers {
    let folders = TemporaryFolders()

    @Test(arguments: NATSServer.Version.allCases)
    func anImageArrives(_ version: NATSServer.Version) async throws {
      let server = try await NATSServer(version)
      let stream = try await server.jetStream()
      try await SiteStreams.create(on: stream)
      let (entries, folder) = (try KeyValueBucket(SiteLayout.images, of: stream), folders.make())
      let upload = ImageUpload(entries)
      let bytes = ImageTests.image(12, chunks: 8)
      let digest = try await upload.store(bytes).digest
      #expect(try await upload.store(bytes).chunksSent == 0)
      try await entries.purge("\(digest).3")
      #expect(try await upload.store(bytes).chunksSent == 1)
      #expect(try await upload.stored() == [digest])
      let cache = try ImageTests.cache(entries, folder)
      #expect(try await cache.acquire(digest) == bytes)
      try await upload.remove(digest)
      #expect(try await upload.stored() == [])
      #expect(try await stream.stream("KV_FW").content.messages == 0)
      let other = try ImageTests.cache(entries, folders.make())
      await #expect(throws: SiteImageFault.absent(digest: digest)) {
        try await other.acquire(digest)
      }
    }

    /// The manifest of the largest image fits into a message.
    @Test(arguments: NATSServer.Version.allCases)
    func theLargestManifestFits(_ version: NATSServer.Version) async throws {
      let server = try await NATSServer(version)
      let stream = try await server.jetStream()
      try await SiteStreams.create(on: stream)
      let entries = try KeyValueBucket(SiteLayout.images, of: stream)
      // With chunks of one byte, 8192 bytes have as many chunks as the largest image.
      let count = ImageManifest.sizeMaximum / ImageManifest.chunkSize
      let manifest = ImageManifest(
        of: [UInt8](repeating: 1, count: count), chunkSize: 1,
        sha256: { Array(SHA256.hash(data: $0)) })
      #expect(manifest.chunks.count == 8192)
      try await entries.put("large.manifest", manifest.encoded())
      let value = try #require(try await entries.current("large.manifest")).value
      #expect(ImageManifest.decode(value) == manifest)
    }
  }
}
#endif
