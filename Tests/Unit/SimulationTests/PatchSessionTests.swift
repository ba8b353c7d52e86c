import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of the simulated board in patch sessions (docs/ota-service.md, 13), and with erasing ahead
/// (14).
@Suite struct PatchSessionTests {
  private static let page = 4096
  private static let newVersion = FirmwareVersion(1, 3, 0)

  /// The stream for `image` on a device that runs `base`: one CRLE patch per part.
  private struct Session {
    let base: [UInt8]
    let image: [UInt8]
    let stream: [UInt8]

    init(base: [UInt8], image: [UInt8], part: Int) {
      (self.base, self.image) = (base, image)
      let patchBase = PatchBase(base)
      stream = stride(from: 0, to: image.count, by: part).flatMap { start -> [UInt8] in
        let end = min(start + part, image.count)
        let patch = Patch(from: patchBase, to: image[start..<end], codec: .crle).bytes
        let sums = [start, end - start, patch.count].map { UInt32($0) }
        return (sums + [CRC32.checksum(Array(image[..<end]))]).flatMap(words) + patch
      }
    }

    init(base: [UInt8], image: [UInt8], stream: [UInt8]) {
      (self.base, self.image, self.stream) = (base, image, stream)
    }

    var announcement: [UInt8] {
      [
        UInt32(base.count), CRC32.checksum(base), UInt32(stream.count), CRC32.checksum(stream),
      ].flatMap(words)
    }
  }

  private static func words(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Returns a patch session to a new image: the first `size` bytes of the running image, with
  /// changed and inserted bytes.
  private static func session(
    on board: SimulatedBoard, part: Int = 1 << 20, size: Int = 40_000
  ) throws -> Session {
    let base = try board.runningImage()
    var image = Array(base.prefix(size))
    for place in stride(from: 100, to: image.count, by: 50) { image[place] ^= 0x55 }
    image.insert(contentsOf: Array("some more".utf8), at: image.count / 2)
    return Session(base: base, image: image, part: part)
  }

  /// Performs PATCH, BEGIN, the stream, VERIFY and ACTIVATE; resumes at the device's offset.
  private static func flash(_ session: Session, by host: inout OTAHost) async throws {
    _ = try await host.operate(0x0E, session.announcement)
    let start = try await host.begin(session.image, version: newVersion, flags: 16)
    try await host.upload(session.stream, from: start)
    _ = try await host.operate(0x08)
    _ = try await host.operate(0x09)
    await host.waitForEnd()
  }

  @Test(arguments: ["plain", "fast", "plain?erase-ahead=yes", "plain?ring=2K&mtu=23&seed=4"])
  func aPatchCreatesTheImageFromTheRunningImage(profile: String) throws {
    try withBoard(profile) { board, _ in
      let session = try Self.session(on: board)
      var host = try await OTAHost.connected(to: board)
      try await Self.flash(session, by: &host)
      _ = try await OTAHost.connected(to: board)
      #expect(try board.runningImage() == session.image)
      #expect(board.counters.dataBytes == session.stream.count)
      #expect(session.stream.count < session.image.count / 4)
      #expect(board.flashFaults == [])
    }
  }

  @Test(arguments: [
    ("plain", 0x0C), ("plain?delta=no", 0x04), ("plain?erase-ahead=yes&delta=no", 0x14),
  ])
  func infoReportsTheAbilitiesOfTheDevice(profile: String, flags: UInt8) throws {
    try withBoard(profile) { board, _ in
      var host = try await OTAHost.connected(to: board)
      #expect(try await host.operate(0x01, [1])[1] == flags)
      guard flags & 8 == 0 else { return }
      await #expect(throws: OTAHost.Fault.result(1)) { try await host.operate(0x0D) }
    }
  }

  @Test func anotherBaseIsRefusedAndTheCorrectBaseIsReported() throws {
    try withBoard("fast") { board, _ in
      var host = try await OTAHost.connected(to: board)
      let session = try Self.session(on: board)
      let other = Session(base: session.image, image: session.base, part: 1 << 20)
      await #expect(throws: OTAHost.Fault.result(15)) {
        try await host.operate(0x0E, other.announcement)
      }
      let info = try await host.operate(0x0D)
      let base = info.dropLast().suffix(8)
      #expect(base == session.announcement.prefix(8))
    }
  }

  /// The device requests the part once more. Then the session ends, and the complete image
  /// succeeds.
  @Test func aChangedBaseIsDetected() throws {
    try withBoard("fast?base=spoilt") { board, _ in
      let session = try Self.session(on: board)
      var host = try await OTAHost.connected(to: board)
      for _ in 0..<2 {
        _ = try await host.operate(0x0E, session.announcement)
        let start = try await host.begin(session.image, version: Self.newVersion, flags: 16)
        try await host.write(session.stream, from: start)
        while host.statuses.last?.error == 0 { _ = try await host.receive() }
      }
      #expect(host.statuses.suffix(1).map(\.error) == [6])
      try await host.flash(session.image, version: Self.newVersion)
      _ = try await OTAHost.connected(to: board)
      #expect(try board.runningImage() == session.image)
    }
  }

  /// If a patch has a wrong bit anywhere, and the host does not detect it, another image must never
  /// be activated.
  @Test func aBitErrorNeverActivatesAnotherImage() throws {
    let profile = "fast?slot=16K"
    let good = try withBoard(profile) { board, _ in
      let base = try board.runningImage()
      var image = Array(base.prefix(5000))
      for place in stride(from: 300, to: image.count, by: 500) { image[place] ^= 0x55 }
      image.insert(contentsOf: Array("some more".utf8), at: 2000)
      return Session(base: base, image: image, part: Self.page)
    }
    var activated = 0
    for bit in 0..<8 * good.stream.count {
      var stream = good.stream
      stream[bit / 8] ^= 1 << UInt8(bit % 8)
      let session = Session(base: good.base, image: good.image, stream: stream)
      let running = try withBoard(profile) { board, _ in
        try await Self.send(session, to: board)
        return try board.runningImage()
      }
      #expect(running == good.base || running == good.image, "bit \(bit)")
      if running == good.image { activated += 1 }
    }
    // The last number of each part encodes its own length.
    #expect((1..<good.stream.count).contains(activated))
  }

  /// Sends a complete stream, which must fit the window, and activates the image after VERIFY.
  private static func send(_ session: Session, to board: SimulatedBoard) async throws {
    var host = try await OTAHost.connected(to: board)
    do {
      _ = try await host.operate(0x0E, session.announcement)
      let start = try await host.begin(session.image, version: newVersion, flags: 16)
      try await host.write(session.stream, from: start)
      _ = try await host.operate(0x08)
      _ = try await host.operate(0x09)
    } catch OTAHost.Fault.result {
      return
    }
    await host.waitForEnd()
    _ = try await OTAHost.connected(to: board)
  }

  /// Resumes after each loss of the link, in at most five attempts.
  private static func flashWithReconnects(
    _ session: Session, _ board: SimulatedBoard
  ) async throws {
    for _ in 0..<5 where try board.runningImage() != session.image {
      do {
        var host = try await OTAHost.connected(to: board)
        try await Self.flash(session, by: &host)
        _ = try await OTAHost.connected(to: board)
      } catch OTAHost.Fault.linkLost(.supervisionTimeout) {
        continue
      }
    }
  }

  @Test(arguments: [1, 4, 256], Array(1...24))
  func aPatchResumesAfterAResetInAnyFlashOperation(pages: Int, operation: Int) throws {
    let place = operation * 2 + pages % 2
    let ahead = operation.isMultiple(of: 3) ? "yes" : "no"
    let profile = "plain?torn&reset-at-flash-op=\(place)&seed=\(operation)&erase-ahead=\(ahead)"
    try withBoard(profile) { board, _ in
      let session = try Self.session(on: board, part: pages * Self.page)
      try await Self.flashWithReconnects(session, board)
      #expect(try board.runningImage() == session.image)
      #expect(board.flashFaults == [])
    }
  }

  @Test(arguments: [5, 14, 20, 26, 32])
  func nothingIsRepeatedAfterALinkCut(pdus: Int) throws {
    try withBoard("plain?cut-at-pdu=\(pdus)") { board, _ in
      let session = try Self.session(on: board)
      try await Self.flashWithReconnects(session, board)
      #expect(try board.runningImage() == session.image)
      // The host repeats only the bytes that were in flight, less than one window of 8,192 bytes.
      #expect(board.counters.dataBytes < session.stream.count + 8192)
    }
  }

  @Test func erasingAheadShortensTheUpdate() throws {
    func seconds(_ profile: String) throws -> Double {
      try withBoard(profile) { board, clock in
        let session = try Self.session(on: board)
        // The time is sufficient to erase the 32 pages of the slot.
        _ = await clock.pause(for: .seconds(4))
        var host = try await OTAHost.connected(to: board)
        let start = clock.now.elapsed
        try await Self.flash(session, by: &host)
        return (clock.now.elapsed - start) / .seconds(1)
      }
    }
    let (plain, ahead) = (
      try seconds("plain?slot=128K"), try seconds("plain?slot=128K&erase-ahead=yes")
    )
    // The image has 10 pages, and the erase of a page takes 85 ms.
    #expect(abs(plain - ahead - 0.85) < 0.15, "\(plain) and \(ahead) s")
  }
}
