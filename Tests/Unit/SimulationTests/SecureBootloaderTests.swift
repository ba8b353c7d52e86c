import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import Testing

/// Tests of Nordic's Secure DFU bootloader of SDK 15, rule by rule, over the modeled radio.
@Suite struct SecureBootloaderTests {
  static let newVersion = FirmwareVersion(1, 3, 0)
  /// The bytes 00…FF, repeated, whose checksums are known.
  static let counting = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }

  /// Runs `body` in the bootloader, with a valid init packet for `image` if an image is specified.
  @discardableResult
  private func inBootloader<Value: Sendable>(
    _ profile: String = "nordic-dfu", mtu: UInt16 = 247, image: [UInt8]? = nil,
    _ body:
      @escaping @Sendable (inout SecureDFUHost, SimulatedBoard, VirtualClock) async throws
      -> Value
  ) throws -> Value {
    try withBoard(profile) { board, clock in
      var dfu = try await SecureDFUHost.inBootloader(of: board, mtu: mtu)
      if let image {
        #expect(try await dfu.sendInit(InitPacketBuilder(for: image).signed) == "60 04 01")
        // The settings page is erased and written during this time.
        await clock.pause(for: .milliseconds(200))
      }
      let value = try await body(&dfu, board, clock)
      #expect(board.flashFaults == [])
      return value
    }
  }

  // MARK: The complete update

  @Test(arguments: [
    "nordic-dfu", "nordic-dfu?loss=5%", "nordic-dfu?ll=27&phy=1M", "nordic-dfu?banks=single",
    "nordic-dfu?erase=0&write=0", "nordic-dfu?drop=timeout",
  ])
  func anImageIsReceivedVerifiedAndRuns(profile: String) throws {
    let image = makeImage(20_001, version: Self.newVersion)
    try withBoard(profile) { board, clock in
      let home = board.address
      let builder = InitPacketBuilder(for: image)
      try await SecureDFUHost.flash(image, initPacket: builder.signed, to: board, on: clock)
      var host = try await BareHost.connected(to: board, at: home)
      #expect(try await host.read(SecureDFUHost.firmwareRevision) == Array("1.3.0".utf8))
      #expect(try board.runningImage() == image)
      #expect(board.running.version == Self.newVersion)
      #expect(board.flashFaults == [])
      #expect(board.counters.dataBytes >= 20_001)
    }
  }

  @Test func theInitPacketIdentifiesAnImageWithoutADescriptor() throws {
    try withBoard("nordic-dfu") { board, clock in
      let image = makeImage(5000)
      var builder = InitPacketBuilder(for: image)
      builder.firmwareVersion = 77
      try await SecureDFUHost.flash(image, initPacket: builder.signed, to: board, on: clock)
      var host = try await BareHost.connected(to: board, at: board.address)
      #expect(try await host.read(SecureDFUHost.firmwareRevision) == Array("77".utf8))
      #expect(board.running.size == 5000)
    }
  }

  @Test func anApplicationMayHaveNoDeviceInformation() throws {
    try withBoard("nordic-dfu?information=no") { board, _ in
      let host = try await BareHost.connected(to: board)
      #expect(!host.has(SecureDFUHost.firmwareRevision))
    }
  }

  // MARK: The Control Point

  @Test func withoutNotificationsTheControlPointRefusesWrites() throws {
    try withBoard("nordic-dfu?entry=button") { board, _ in
      var host = try await BareHost.connected(to: board)
      await #expect(throws: BareHost.Fault.refused(ATTErrorCode(0xFD))) {
        try await host.write(SecureDFUHost.control, [0x06, 0x01])
      }
    }
  }

  @Test func aControlPointValueHas23BytesAtMost() throws {
    try inBootloader { (dfu, _, _) async throws in
      await #expect(throws: BareHost.Fault.refused(.invalidAttributeValueLength)) {
        try await dfu.host.write(SecureDFUHost.control, [UInt8](repeating: 0x09, count: 24))
      }
    }
  }

  @Test(arguments: [
    ("00", "60 00 01"), ("07", "60 07 01"), ("09 05", "60 09 01"), ("0a", "60 0a 01"),
    ("0b 00", "60 0b 01"), ("05", "60 05 02"), ("08 01", "60 08 02"), ("0d", "60 0d 02"),
    ("ff", "60 ff 02"), ("01 01 04", "60 01 03"), ("02 01", "60 02 03"), ("06", "60 06 03"),
    ("06 03", "60 06 07"), ("01 03 04 00 00 00", "60 01 07"), ("02 0a 00", "60 02 01"),
    ("03", "60 03 07"), ("04", "60 04 07"),
    ("06 01", "60 06 01 00 02 00 00 00 00 00 00 00 00 00 00"),
    ("06 02", "60 06 01 00 10 00 00 00 00 00 00 00 00 00 00"),
    ("01 01 00 00 00 00", "60 01 03"), ("01 01 01 02 00 00", "60 01 04"),
    ("01 01 00 02 00 00", "60 01 01"), ("01 02 00 10 00 00", "60 01 08"),
  ])
  func requestsWithoutAnInitPacketAreAnswered(request: String, answer: String) throws {
    try inBootloader { (dfu, _, _) async throws in #expect(try await dfu.ask(request) == answer) }
  }

  @Test(arguments: [
    ("01 02 00 00 00 00", "60 01 03"), ("01 02 00 08 00 00", "60 01 03"),
    ("01 02 00 20 00 00", "60 01 04"), ("01 02 00 10 00 00", "60 01 01"),
    ("01 02 10 27 00 00", "60 01 04"), ("04", "60 04 01"),
  ])
  func requestsAfterAValidInitPacketAreAnswered(request: String, answer: String) throws {
    try inBootloader(image: Self.counting) { (dfu, _, _) async throws in
      #expect(try await dfu.ask(request) == answer)
    }
  }

  @Test func anObjectEndsWithTheImage() throws {
    try inBootloader(image: Array(Self.counting.prefix(3000))) { (dfu, _, _) async throws in
      #expect(try await dfu.ask("01 02 00 10 00 00") == "60 01 08")
      #expect(try await dfu.ask("01 02 b8 0b 00 00") == "60 01 01")
    }
  }

  @Test func checksumsAreCumulative() throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      for (offset, answer) in [
        (0, "60 03 01 00 10 00 00 82 20 91 a2"), (4096, "60 03 01 00 20 00 00 07 53 67 b6"),
      ] {
        _ = try await dfu.ask("01 02 00 10 00 00")
        await clock.pause(for: .milliseconds(120))
        try await dfu.send(Self.counting[offset..<offset + 4096])
        #expect(try await dfu.ask("03") == answer)
        #expect(try await dfu.ask("04") == "60 04 01")
      }
    }
  }

  @Test func abortResetsIntoTheApplication() throws {
    try inBootloader { (dfu, board, _) async throws in
      #expect(try await dfu.ask("0c") == "60 0c 01")
      await dfu.host.waitForEnd()
      let host = try await BareHost.connected(to: board, at: board.address)
      #expect(host.has(SecureDFUHost.buttonless))
    }
  }

  // MARK: Receipts

  @Test func receiptsComeEveryFewPackets() throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      #expect(try await dfu.ask("02 04 00") == "60 02 01")
      _ = try await dfu.ask("01 02 00 10 00 00")
      await clock.pause(for: .milliseconds(120))
      try await dfu.send(Self.counting.prefix(4096), packetSize: 244)
      let receipts = [try await dfu.host.next(), try await dfu.host.next()]
      #expect(receipts.map { littleEndian($0[3..<7]) } == [976, 1952])
      let checksums = [976, 1952].map { CRC32.checksum(Self.counting.prefix($0)) }
      #expect(receipts.map { littleEndian($0[7..<11]) } == checksums)
    }
  }

  @Test func onlyAReceiptReportsAnErrorInAPacket() throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      _ = try await dfu.ask("01 02 00 10 00 00")
      await clock.pause(for: .milliseconds(120))
      try await dfu.send(Self.counting.prefix(4096))
      // The packet exceeds the object and receipts are off, so there is no answer.
      try await dfu.send([1, 2, 3, 4])
      #expect(try await dfu.ask("03") == "60 03 01 00 10 00 00 82 20 91 a2")
      // A receipt is due at the second packet, so the result of the second packet is sent.
      #expect(try await dfu.ask("02 02 00") == "60 02 01")
      try await dfu.send([1, 2, 3, 4])
      try await dfu.send([1, 2, 3, 4])
      #expect(text(try await dfu.host.next()) == "60 03 04")
    }
  }

  // MARK: Buffers

  /// During an erase no packet leaves the queue of 16, in which the erase occupies one place.
  @Test(arguments: [20, 244])
  func duringAnEraseFifteenPacketsOfAnySizeAreKept(size: Int) throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      let begun = clock.now
      #expect(try await dfu.ask("01 02 00 10 00 00") == "60 01 01")
      #expect(begun.duration(to: clock.now) < .milliseconds(85), "the answer waited for the erase")
      try await dfu.send(Self.counting.prefix(size * 16), packetSize: size)
      let answer = try await dfu.ask(hex("03"))
      #expect(littleEndian(answer[3..<7]) == UInt32(15 * size))
      #expect(littleEndian(answer[7..<11]) == CRC32.checksum(Self.counting.prefix(15 * size)))
    }
  }

  @Test func onlyExecuteWaitsForTheFlash() throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      let begun = clock.now
      _ = try await dfu.ask("01 02 00 10 00 00")
      try await dfu.send(Self.counting.prefix(3000), packetSize: 240)
      _ = try await dfu.ask("03")
      #expect(begun.duration(to: clock.now) < .milliseconds(85))
      // The object is too short, which is reported only after the erase.
      #expect(try await dfu.ask("04") == "60 04 08")
      #expect(begun.duration(to: clock.now) > .milliseconds(85 + 30))
    }
  }

  @Test func creatingReturnsToTheExecutedOffset() throws {
    try inBootloader(image: Self.counting) { (dfu, board, clock) async throws in
      #expect(try await dfu.sendImage(Array(Self.counting.prefix(4096)), on: clock) == "60 04 01")
      for _ in 0..<2 {
        _ = try await dfu.ask("01 02 00 10 00 00")
        await clock.pause(for: .milliseconds(120))
        try await dfu.send(Self.counting[4096..<6096])
        #expect(littleEndian(try await dfu.ask(hex("03"))[3..<7]) == 6096)
      }
      _ = try await dfu.ask("01 02 00 10 00 00")
      #expect(try await dfu.ask("03") == "60 03 01 00 10 00 00 82 20 91 a2")
    }
  }

  @Test func aPacketOfHalfAWordSpoilsTheFollowingData() throws {
    try inBootloader(image: Self.counting) { (dfu, _, clock) async throws in
      _ = try await dfu.ask("01 02 00 10 00 00")
      await clock.pause(for: .milliseconds(120))
      try await dfu.send(Self.counting.prefix(182 * 3), packetSize: 182)
      #expect(littleEndian(try await dfu.ask(hex("03"))[3..<7]) == 182)
    }
  }

  @Test(arguments: [(UInt16(185), 183), (247, 247), (100, 99), (517, 247), (24, 23)])
  func aSmallerMTUIsRoundedToWholeWords(asked: UInt16, mtu: Int) throws {
    try withBoard("nordic-dfu?entry=button") { board, _ in
      let host = try await BareHost.connected(to: board, mtu: asked)
      #expect(host.mtu == mtu)
    }
  }

  // MARK: The end

  @Test func anImageWithAnotherHashIsDiscarded() throws {
    var image = Self.counting
    image[5000] ^= 1
    let sent = image
    try inBootloader(image: Self.counting) { (dfu, board, clock) async throws in
      let factory = try board.runningImage()
      #expect(try await dfu.sendImage(sent, on: clock) == "60 04 0b 0c")
      #expect(
        try await dfu.ask("06 01") == "60 06 01 00 02 00 00 00 00 00 00 00 00 00 00")
      #expect(
        try await dfu.ask("06 02") == "60 06 01 00 10 00 00 00 00 00 00 00 00 00 00")
      #expect(try board.runningImage() == factory)
    }
  }

  // MARK: Resets

  @Test func aResetKeepsAnExecutedInitPacketAndNoData() throws {
    try inBootloader(image: Self.counting) { (dfu, board, clock) async throws in
      #expect(try await dfu.sendImage(Array(Self.counting.prefix(8192)), on: clock) == "60 04 01")
      let held = try await dfu.ask(hex("06 01"))
      board.powerCut()
      await dfu.host.waitForEnd()
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      let select = try await dfu.ask(hex("06 01"))
      #expect(littleEndian(select[7..<11]) > 0)
      #expect(select == held)
      #expect(
        try await dfu.ask("06 02") == "60 06 01 00 10 00 00 00 00 00 00 00 00 00 00")
      #expect(try await dfu.sendImage(Self.counting, on: clock) == "60 04 01")
    }
  }

  @Test func aLostLinkKeepsEverything() throws {
    try inBootloader(image: Self.counting) { (dfu, board, clock) async throws in
      #expect(try await dfu.sendImage(Array(Self.counting.prefix(4096)), on: clock) == "60 04 01")
      dfu.host.link.close()
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      #expect(
        try await dfu.ask("06 02") == "60 06 01 00 10 00 00 00 10 00 00 82 20 91 a2")
    }
  }

  @Test func afterTwoMinutesOfInactivityTheApplicationRunsAgain() throws {
    try inBootloader { (dfu, board, clock) async throws in
      let begun = clock.now
      await dfu.host.waitForEnd()
      #expect(begun.duration(to: clock.now) > .seconds(119))
      #expect(begun.duration(to: clock.now) < .seconds(122))
      let host = try await BareHost.connected(to: board, at: board.address)
      #expect(host.has(SecureDFUHost.buttonless))
    }
  }

  /// With two banks, the old application runs until the new application is complete, regardless of
  /// the time at which the device resets.
  @Test(arguments: Array(1...34))
  func aResetInAnyFlashOperationLeavesOneOfTheTwoImages(operation: Int) throws {
    let image = makeImage(9000, version: Self.newVersion)
    let initPacket = InitPacketBuilder(for: image).signed
    try withBoard("nordic-dfu?torn&reset-at-flash-op=\(operation)&seed=\(operation)") {
      board, clock in
      let factory = try board.runningImage()
      for _ in 0..<3 where try board.runningImage() != image {
        #expect(try board.runningImage() == factory)
        do {
          try await SecureDFUHost.flash(image, initPacket: initPacket, to: board, on: clock)
          _ = try await BareHost.connected(to: board, at: board.address)
        } catch BareHost.Fault.linkLost {
          continue
        }
      }
      #expect(try board.runningImage() == image)
      #expect(board.flashFaults == [])
    }
  }
}
