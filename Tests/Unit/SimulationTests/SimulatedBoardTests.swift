import Crypto
import Glibc
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@Suite struct SimulatedBoardTests {
  static let newVersion = FirmwareVersion(1, 3, 0)

  @Test(arguments: ["plain", "fast", "plain?loss=5%&drop=close", "plain?phy=1M&ll=27&mtu=23"])
  func anImageIsReceivedActivatedAndRuns(profile: String) throws {
    let image = makeImage(60_001)
    try withBoard(profile) { board, _ in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(image, version: Self.newVersion)
      host = try await OTAHost.connected(to: board)
      let running = try await host.operate(0x02)
      #expect(running[0..<4] == [1, 3, 0, 0])
      #expect(littleEndian(running[4..<8]) == 60_001)
      #expect(littleEndian(running[8..<12]) == CRC32.checksum(image))
      #expect(running[12] == 1 && running[13] == 0)
      #expect(try board.runningImage() == image)
      #expect(board.running.version == Self.newVersion)
      #expect(board.flashFaults == [])
      #expect(board.counters.resets == 1 && board.counters.dataBytes == 60_001)
    }
  }

  @Test func flashTakesItsTime() throws {
    let elapsed = try withBoard("plain") { board, clock in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(makeImage(81_920), version: Self.newVersion)
      return clock.now.elapsed
    }
    // 20 pages take 85 + 40 ms each, in addition to the time of the radio.
    #expect(elapsed > .milliseconds(2500) && elapsed < .milliseconds(3800))
  }

  @Test func withoutFlashTimeTheRadioIsTheLimit() throws {
    let image = makeImage(266_112)
    let (rate, limit) = try withBoard("fast") { board, clock in
      var host = try await OTAHost.connected(to: board)
      let start = try await host.begin(image, version: Self.newVersion)
      let began = clock.now
      try await host.upload(image, from: start)
      let seconds = began.duration(to: clock.now) / .seconds(1)
      return (Double(image.count) / seconds, board.settings.radio.eventPackedLimit(mtu: 247))
    }
    // The offset in each write costs 4 of 244 bytes; statuses and the start of the transfer cost a
    // little more.
    #expect(rate > 0.85 * limit && rate < limit)
  }

  @Test func aRunIsAFunctionOfItsSeed() throws {
    func run(_ seed: Int) throws -> [String] {
      try withBoard("fast?loss=20%&seed=\(seed)") { board, clock in
        var host = try await OTAHost.connected(to: board)
        try await host.flash(makeImage(20_000), version: Self.newVersion)
        return ["\(clock.now.elapsed)", "\(board.counters)", "\(host.statuses)"]
      }
    }
    let first = try run(3)
    #expect(try run(3) == first)
    #expect(try run(4) != first)
  }

  @Test func theDeviceReportsItsInformation() throws {
    try withBoard("plain?hardware=0x00B00001&version=2.0.1") { board, _ in
      var host = try await OTAHost.connected(to: board)
      let info = try await host.operate(0x01, [1])
      #expect(info[0...1] == [1, 0x0C])
      #expect(littleEndian(info[2..<6]) == 0x00B0_0001)
      #expect(littleEndian(info[6..<10]) == 524_288)
      #expect(littleEndian(info[10..<14]) == 4096)
      #expect(littleEndian(info[14..<16]) == 508)
      #expect(littleEndian(info[16..<18]) == 8192)
      let response = try await host.request(
        .readByType(.all, type: BluetoothUUID(0x2A26)))
      #expect(
        response
          == .readByType([AttributeData(handle: AttributeHandle(16), value: Array("2.0.1".utf8))]))
    }
  }

  @Test func onlyTheRightAuthorizationOpensTheDevice() throws {
    try withBoard("plain?key=00010203") { board, _ in
      var host = try await OTAHost.connected(to: board)
      await #expect(throws: OTAHost.Fault.result(4)) {
        _ = try await host.begin(makeImage(100), version: Self.newVersion)
      }
      _ = try await host.operate(0x04)
      await #expect(throws: OTAHost.Fault.result(0x0B)) {
        _ = try await host.operate(0x05, [UInt8](repeating: 0, count: 16))
      }
      let challenge = try await host.operate(0x04)
      let code = HMAC<SHA256>.authenticationCode(
        for: Array("otaflash authorize".utf8) + challenge + [0x01, 0xA0, 0, 0],
        using: SymmetricKey(data: [0, 1, 2, 3]))
      _ = try await host.operate(0x05, Array(code.prefix(16)))
      #expect(try await host.begin(makeImage(100), version: Self.newVersion) == 0)
    }
  }

  @Test func anUnconfirmedTrialIsReverted() throws {
    try withBoard("fast?trial=yes") { board, clock in
      let factory = try board.runningImage()
      var host = try await OTAHost.connected(to: board)
      try await host.flash(makeImage(5000), version: Self.newVersion)
      host = try await OTAHost.connected(to: board)
      #expect(try await host.operate(0x02)[13] == 1)
      board.powerCut()
      await host.waitForEnd()
      host = try await OTAHost.connected(to: board)
      #expect(try await host.operate(0x02)[12...13] == [2, 0])
      #expect(try board.runningImage() == factory)
    }
  }

  @Test func aConfirmedTrialStays() throws {
    try withBoard("fast?trial=yes") { board, _ in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(makeImage(5000), version: Self.newVersion)
      host = try await OTAHost.connected(to: board)
      _ = try await host.operate(0x0A)
      board.powerCut()
      await host.waitForEnd()
      host = try await OTAHost.connected(to: board)
      #expect(try await host.operate(0x02)[12...13] == [0, 0])
      #expect(try board.runningImage() == makeImage(5000))
    }
  }

  @Test(arguments: Array(1...40))
  func theUpdateResumesAfterAResetInAnyFlashOperation(operation: Int) throws {
    let image = makeImage(20_000)
    try withBoard("plain?torn&reset-at-flash-op=\(operation)&seed=\(operation)") { board, _ in
      try await flashWithReconnects(image, board)
      #expect(try board.runningImage() == image)
      #expect(board.flashFaults == [])
    }
  }

  @Test(arguments: [5, 30, 60, 90])
  func theUpdateResumesAfterALinkCut(pdus: Int) throws {
    let image = makeImage(20_000)
    try withBoard("plain?cut-at-pdu=\(pdus)") { board, _ in
      try await flashWithReconnects(image, board)
      #expect(try board.runningImage() == image)
      #expect(board.counters.dataBytes < 20_000 + 8192)
      // The connections before the cut, after it, and after the activation.
      #expect(board.counters.connections == 3)
    }
  }

  @Test func aCutInTimeHappensOnce() throws {
    try withBoard("plain?cut-after=300ms") { board, _ in
      try await flashWithReconnects(makeImage(20_000), board)
      // The connections before the cut, after it, and after the activation.
      #expect(board.counters.connections == 3)
    }
  }

  /// Flashes the image. After a lost link, connects and flashes again, up to five attempts.
  private func flashWithReconnects(_ image: [UInt8], _ board: SimulatedBoard) async throws {
    for _ in 0..<5 where try board.runningImage() != image {
      do {
        var host = try await OTAHost.connected(to: board)
        try await host.flash(image, version: Self.newVersion)
        _ = try await OTAHost.connected(to: board)
      } catch OTAHost.Fault.linkLost(.supervisionTimeout) {
        continue
      }
    }
  }

  @Test func aFileKeepsTheDeviceAfterTheEndOfTheProcess() throws {
    let path = "/tmp/otaflash-board-test-\(UInt64.random(in: 0 ... .max))"
    defer { unlink(path) }
    let size = try SimulationProfile(parsing: "fast").flashSize
    try withBoard("fast", storage: FlashFile(path: path, size: size)) { board, _ in
      var host = try await OTAHost.connected(to: board)
      try await host.flash(makeImage(5000), version: Self.newVersion)
      _ = try await OTAHost.connected(to: board)
    }
    try withBoard("fast", storage: FlashFile(path: path, size: size)) { board, _ in
      let running = try board.runningImage()
      #expect(running == makeImage(5000))
      #expect(board.running.version == Self.newVersion)
    }
  }
}
