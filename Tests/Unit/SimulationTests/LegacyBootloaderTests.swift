import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of the bootloaders of SDK 11 and of Adafruit, rule by rule, over the modeled radio.
@Suite struct LegacyBootloaderTests {
  static let image = makeImage(5000, version: FirmwareVersion(1, 3, 0))

  @Test func theChecksumMatchesTheSpecification() {
    #expect(LegacyDFUHost.crc16(Array("123456789".utf8)) == 0x29B1)
  }

  @Test(arguments: [
    "nordic-legacy", "nordic-legacy?banks=dual", "nordic-legacy?loss=5%&entry=button",
    "nordic-legacy?variant=adafruit",
  ])
  func anImageIsReceivedAndRuns(profile: String) throws {
    try withBoard(profile) { board, _ in
      try await LegacyDFUHost.flash(Self.image, to: board)
      var host = try await BareHost.connected(to: board)
      #expect(try await host.read(BluetoothUUID(0x2A26)) == Array("1.3.0".utf8))
      #expect(try board.runningImage() == Self.image)
      #expect(board.flashFaults == [])
    }
  }

  @Test func theApplicationOnlyStartsTheBootloader() throws {
    try withBoard("nordic-legacy") { board, _ in
      var host = try await BareHost.connected(to: board)
      #expect(try await host.read(LegacyDFUHost.version) == [1, 0])
      #expect(!host.has(LegacyDFUHost.packet))
      await #expect(throws: BareHost.Fault.refused(ATTErrorCode(0xFD))) {
        try await host.write(LegacyDFUHost.control, [1, 4])
      }
      host.link.close()
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      #expect(try await dfu.host.read(LegacyDFUHost.version) == [8, 0])
      #expect(dfu.host.has(LegacyDFUHost.packet))
    }
  }

  /// Before START, requests that no packet follows, and requests without their parameters, are
  /// answered immediately.
  @Test(arguments: [
    ("02 01", "10 02 02"), ("04", "10 04 02"), ("07", "10 07 01 00 00 00 00"), ("09", "10 09 03"),
    ("01", "10 01 06"), ("02", "10 02 06"), ("08 01", "10 08 03"),
  ])
  func requestsOutOfOrderAreRefused(request: String, answer: String) throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      #expect(try await dfu.ask(request) == answer)
    }
  }

  /// A request that is followed by packets is not answered until the first packet has arrived.
  @Test(arguments: [("02 00", "10 02 02"), ("03", "10 03 02")])
  func aRequestIsAnsweredAfterItsPacket(request: String, answer: String) throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      try await dfu.write(request)
      try await dfu.sendPacket([1, 2, 3, 4])
      #expect(try await dfu.next() == answer)
    }
  }

  @Test(arguments: [
    (5000, "10 01 01"), (524_292, "10 01 04"), (5001, "10 01 03"), (0, "10 01 01"),
  ])
  func theSizesAreAnsweredAfterTheErase(size: Int, answer: String) throws {
    try withBoard("nordic-legacy") { board, clock in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      let begun = clock.now
      #expect(try await dfu.begin(size) == answer)
      if size == 5000 { #expect(begun.duration(to: clock.now) > .milliseconds(2 * 85)) }
    }
  }

  /// The type in START is ignored; the sizes determine the update.
  @Test(arguments: [(4, 0, 0, "10 01 01"), (0, 8, 0, "10 01 01"), (4, 0, 4, "10 01 03")])
  func theSizesDetermineTheReplacedParts(sizes: (Int, Int, Int, String)) throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      try await dfu.write("01 07")
      try await dfu.sendPacket(
        [sizes.0, sizes.1, sizes.2].flatMap { littleEndian(UInt32($0)) })
      #expect(try await dfu.next() == sizes.3)
    }
  }

  @Test func sizesAre12Bytes() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      try await dfu.write("01 04")
      try await dfu.sendPacket(littleEndian(5000))
      #expect(try await dfu.next() == "10 01 03")
    }
  }

  // MARK: One bank, and the settings page

  /// The running application is erased, regardless of the outcome of the transfer.
  @Test func withOneBankStartErasesTheApplication() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      #expect(try board.runningImage() == [])
      #expect(
        try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image, type: 7)) == "10 02 06")
      try await dfu.write("06")
      await dfu.host.waitForEnd()
      let again = try await BareHost.connected(to: board, at: board.address.successor, mtu: 23)
      #expect(again.has(LegacyDFUHost.packet), "its bootloader, since no application can run")
    }
  }

  @Test func withTwoBanksARefusedImageKeepsTheOldImage() throws {
    try withBoard("nordic-legacy?banks=dual") { board, _ in
      let factory = try board.runningImage()
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image, type: 7))
      try await dfu.write("06")
      await dfu.host.waitForEnd()
      _ = try await BareHost.connected(to: board)
      #expect(try board.runningImage() == factory)
    }
  }

  /// While the settings page is erased, as many packets are accepted as the pool has buffers; the
  /// next packet fails. With two banks, all packets are accepted.
  @Test(arguments: [
    ("", 8), ("&variant=adafruit", 16), ("&variant=adafruit&bootloader=0.9.2", 8),
    ("&pool=3x32", 3), ("&banks=dual", 99),
  ])
  func theSettingsPageIsErasedAfterTheAnswer(settings: String, packets: Int) throws {
    try withBoard("nordic-legacy?interval=7.5ms&erase=200ms\(settings)") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image))
      try await dfu.write("08 01 00")
      try await dfu.sendImage(Array(Self.image.prefix(20 * min(packets + 1, 20))))
      var receipts = 0
      while receipts < 20, try await dfu.next() != "10 03 06" { receipts += 1 }
      #expect(receipts == min(packets, 20))
    }
  }

  @Test func theLastPacketIsAnsweredAfterTheWrite() throws {
    try withBoard("nordic-legacy?write=4s") { board, clock in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(100)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Array(Self.image.prefix(100))))
      let begun = clock.now
      try await dfu.sendImage(Array(Self.image.prefix(100)))
      #expect(try await dfu.next() == "10 03 01")
      #expect(begun.duration(to: clock.now) >= .milliseconds(97), "4 s for 4 KiB")
    }
  }

  // MARK: The state after a lost link

  @Test func anotherHostFindsTheTransferOfTheFirst() throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      dfu.host.link.close()
      dfu = LegacyDFUHost(
        host: try await BareHost.connected(to: board, at: board.address.successor, mtu: 23))
      try await dfu.host.subscribe(LegacyDFUHost.control)
      #expect(try await dfu.begin(5000) == "10 01 02")
      try await dfu.write("06")
      await dfu.host.waitForEnd()
      dfu = try await LegacyDFUHost.atBootloader(of: board)
      #expect(try await dfu.begin(5000) == "10 01 01")
    }
  }

  /// Without a link, the bootloader cannot send the answer to START, and a failed assertion resets
  /// the device.
  @Test func aLinkThatIsLostDuringTheEraseEndsInAReset() throws {
    try withBoard("nordic-legacy?erase=2s") { board, clock in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      let resets = board.counters.resets
      try await dfu.write("01 04")
      try await dfu.sendPacket(littleEndian(0) + littleEndian(0) + littleEndian(8192))
      await clock.pause(for: .seconds(1))
      dfu.host.link.close()
      await clock.pause(for: .seconds(6))
      #expect(board.counters.resets == resets + 1)
    }
  }

  @Test func anImageOfAnotherChecksumIsRefusedUntilAReset() throws {
    try withBoard("nordic-legacy?banks=dual") { board, _ in
      let factory = try board.runningImage()
      var image = Self.image
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(image.count)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: image))
      image[77] ^= 1
      try await dfu.sendImage(image)
      #expect(try await dfu.next() == "10 03 01")
      #expect(try await dfu.ask("04") == "10 04 05")
      #expect(try await dfu.begin(image.count) == "10 01 02")
      // The bootloader sends no answer and resets.
      try await dfu.write("05")
      await dfu.host.waitForEnd()
      #expect(try board.runningImage() == factory)
    }
  }

  // MARK: Init packet and data

  @Test func anInitPacketMustMatchTheDevice() throws {
    let examples: [([UInt8], String)] = [
      (LegacyDFUHost.initPacket(for: Self.image, type: 2), "10 02 06"),
      (LegacyDFUHost.initPacket(for: Self.image, revision: 2), "10 02 06"),
      (LegacyDFUHost.initPacket(for: Self.image, softDevices: [0x65]), "10 02 06"),
      (LegacyDFUHost.initPacket(for: Self.image, softDevices: []), "10 02 06"),
      ([1, 2, 3], "10 02 06"),
      (
        LegacyDFUHost.initPacket(
          for: Self.image, type: 0xFFFF, revision: 0xFFFF, softDevices: [0x65, 0xFFFE]),
        "10 02 01"
      ),
    ]
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      for (packet, answer) in examples { #expect(try await dfu.sendInit(packet) == answer) }
    }
  }

  /// The buffer has 128 bytes, and each part is padded to complete words.
  @Test(arguments: [(32, 0), (33, 1)])
  func anInitPacketHas128Bytes(parts: Int, refused: Int) throws {
    try withBoard("nordic-legacy") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      try await dfu.write("02 00")
      for _ in 0..<parts { try await dfu.sendPacket([1, 2, 3]) }
      let answers = [try await dfu.ask("02 01")]
      #expect(answers == ["10 02 06"])
      if refused > 0 { #expect(try await dfu.next() == "10 02 06", "the packet is refused, too") }
    }
  }

  @Test func receiptsCountPackets() throws {
    try withBoard("nordic-legacy") { board, clock in
      var dfu = try await LegacyDFUHost.ready(for: Array(Self.image.prefix(200)), board, clock)
      try await dfu.write("08 04 00")
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      #expect(try await dfu.next() == "11 50 00 00 00")
      #expect(try await dfu.next() == "11 a0 00 00 00")
      #expect(try await dfu.next() == "10 03 01")
      #expect(try await dfu.ask("07") == "10 07 01 c8 00 00 00")
    }
  }

  @Test(arguments: [
    ("nordic-legacy", 36, "no such ATT_MTU"), ("nordic-legacy?variant=adafruit", 244, "10 03 01"),
    ("nordic-legacy?variant=adafruit&pool=8x32", 36, "10 03 04"),
    ("nordic-legacy?variant=adafruit", 18, "10 03 03"),
  ])
  func packetsAreAsLongAsTheBuffers(profile: String, bytes: Int, answer: String) throws {
    try withBoard(profile) { board, clock in
      let image = Array(Self.image.prefix(488))
      var dfu = try await LegacyDFUHost.ready(for: image, board, clock)
      guard
        case .exchangeMTU(let mtu) = try await dfu.host.request(.exchangeMTU(clientReceiveMTU: 300))
      else { return }
      guard Int(mtu) >= bytes + 3 else { return #expect(answer == "no such ATT_MTU") }
      try await dfu.sendImage(image, packetSize: bytes)
      #expect(try await dfu.next() == answer)
    }
  }

  @Test func adafruitsPacketsAreWholeWordsAtEveryMTU() throws {
    try withBoard("nordic-legacy?variant=adafruit") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      #expect(
        try await dfu.host.request(.exchangeMTU(clientReceiveMTU: 100))
          == .exchangeMTU(serverReceiveMTU: 99))
    }
  }

  @Test func dataBeyondTheSizeEndsTheTransfer() throws {
    try withBoard("nordic-legacy") { board, clock in
      var dfu = try await LegacyDFUHost.ready(for: Array(Self.image.prefix(24)), board, clock)
      try await dfu.sendImage(Array(Self.image.prefix(40)))
      #expect(try await dfu.next() == "10 03 04")
      try await dfu.sendPacket([1, 2, 3, 4])
      #expect(try await dfu.next() == "10 03 06")
    }
  }

  // MARK: Inactivity

  /// Neither a connection nor a query restarts the timer.
  @Test(arguments: [("", 120), ("&variant=adafruit", 360), ("&inactivity=30s", 30)])
  func anInactiveBootloaderStartsTheApplication(settings: String, seconds: Int) throws {
    try withBoard("nordic-legacy?banks=dual\(settings)") { board, clock in
      let begun = clock.now
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      await clock.pause(for: .seconds(seconds - 5))
      _ = try await dfu.ask("07")
      try await dfu.write("08 01 00")
      await dfu.host.waitForEnd()
      #expect(begun.duration(to: clock.now) < .seconds(seconds + 3))
      _ = try await BareHost.connected(to: board)
    }
  }

  @Test func adafruitsBootloaderReportsItsInformation() throws {
    try withBoard("nordic-legacy?variant=adafruit") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      let revision = try await dfu.host.read(BluetoothUUID(0x2A26))
      #expect(String(decoding: revision, as: UTF8.self) == "0.10.0 s132 6.1.1")
      #expect(try await dfu.host.read(BluetoothUUID(0x2A00)) == Array("AdaDFU".utf8))
    }
  }

  @Test(arguments: Array(1...30).filter { $0.isMultiple(of: 3) }, ["single", "dual"])
  func aResetInAnyFlashOperationNeverLeavesAnIncompleteImage(operation: Int, banks: String) throws {
    let image = Array(Self.image.prefix(400))
    try withBoard("nordic-legacy?banks=\(banks)&torn&reset-at-flash-op=\(operation)") {
      board, _ in
      let factory = try board.runningImage()
      for _ in 0..<3 where try board.runningImage() != image {
        let running = try board.runningImage()
        #expect(running == factory || banks == "single" && running.isEmpty)
        do {
          try await LegacyDFUHost.flash(image, to: board)
          _ = try await BareHost.connected(to: board, at: board.address)
        } catch BareHost.Fault.linkLost {
          continue
        } catch ConnectFault.deviceNotFound {
          // If the device resets during the activation, with a single bank only the bootloader
          // runs.
          continue
        }
      }
      #expect(try board.runningImage() == image)
      #expect(board.flashFaults == [])
    }
  }
}
