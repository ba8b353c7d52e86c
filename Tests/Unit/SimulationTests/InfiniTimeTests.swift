import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of InfiniTime's receiver of legacy DFU.
@Suite struct InfiniTimeTests {
  static let image = makeImage(5000, version: FirmwareVersion(1, 3, 0))

  @Test func anImageIsReceivedAndRuns() throws {
    try withBoard("infinitime") { board, _ in
      try await LegacyDFUHost.flash(Self.image, to: board)
      var host = try await BareHost.connected(to: board)
      #expect(try await host.read(BluetoothUUID(0x2A26)) == Array("1.3.0".utf8))
      #expect(try board.runningImage() == Self.image)
    }
  }

  /// InfiniTime reads only the low byte of the number of packets per receipt.
  @Test func theWatchReadsOnlyTheLowByte() throws {
    try withBoard("infinitime") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(200)
      _ = try await dfu.sendInit(
        LegacyDFUHost.initPacket(for: Array(Self.image.prefix(200))))
      try await dfu.write("08 04 01")
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      #expect(try await dfu.next() == "11 50 00 00 00")
    }
  }

  @Test func aPacketOfMoreThan20BytesEndsInAReset() throws {
    try withBoard("infinitime") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      guard
        case .exchangeMTU = try await dfu.host.request(.exchangeMTU(clientReceiveMTU: 247))
      else { return }
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image))
      let resets = board.counters.resets
      try await dfu.sendImage(Array(Self.image.prefix(24)), packetSize: 24)
      await dfu.host.waitForEnd()
      #expect(board.counters.resets == resets + 1)
    }
  }

  /// Unknown requests, such as the request for the number of received bytes (7), are not answered.
  @Test func anUnknownRequestIsNotAnswered() throws {
    try withBoard("infinitime") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      try await dfu.write("07")
      try await dfu.write("09")
      #expect(try await dfu.ask("04") == "10 04 02")
    }
  }

  @Test func theWatchAbortsAfterTenSeconds() throws {
    try withBoard("infinitime") { board, clock in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      _ = try await dfu.begin(5000)
      _ = try await dfu.sendInit(LegacyDFUHost.initPacket(for: Self.image))
      try await dfu.sendImage(Array(Self.image.prefix(200)))
      await clock.pause(for: .seconds(11))
      #expect(try await dfu.ask("04") == "10 04 02")
      #expect(try await dfu.begin(5000) == "10 01 01")
    }
  }

  @Test func theWatchAcceptsImagesOf475136Bytes() throws {
    try withBoard("infinitime?erase=0") { board, _ in
      var dfu = try await LegacyDFUHost.inBootloader(of: board)
      #expect(try await dfu.begin(475_137) == "10 01 04")
      #expect(try await dfu.begin(475_136) == "10 01 01")
    }
  }

  @Test func aWatchWithDisabledUpdatesRefuses() throws {
    try withBoard("infinitime?disabled=yes") { board, _ in
      var host = try await BareHost.connected(to: board, mtu: 23)
      try await host.subscribe(LegacyDFUHost.control)
      await #expect(throws: BareHost.Fault.refused(.insufficientAuthorization)) {
        try await host.write(LegacyDFUHost.control, [1, 4])
      }
    }
  }

  /// Hosts that connect and disconnect leave erases in the limited queue of the flash. If the queue
  /// is full, START is refused.
  @Test func disconnectedHostsDoNotFillTheQueuePermanently() throws {
    try withBoard("infinitime?erase=20s&slot=16K") { board, _ in
      var last = ""
      for _ in 0..<40 where last.isEmpty {
        var dfu = try await LegacyDFUHost.inBootloader(of: board)
        try await dfu.write("01 04")
        try await dfu.sendPacket(littleEndian(0) + littleEndian(0) + littleEndian(4096))
        if try await dfu.ask("04") == "10 01 06" { last = "10 01 06" }
        dfu.host.link.close()
      }
      #expect(last == "10 01 06")
    }
  }

  @Test func theNextResetRevertsAnImageOnTrial() throws {
    try withBoard("infinitime?trial=yes") { board, _ in
      let factory = try board.runningImage()
      try await LegacyDFUHost.flash(Self.image, to: board)
      var host = try await BareHost.connected(to: board)
      #expect(try board.runningImage() == Self.image)
      board.powerCut()
      await host.waitForEnd()
      host = try await BareHost.connected(to: board)
      #expect(try board.runningImage() == factory)
    }
  }
}
