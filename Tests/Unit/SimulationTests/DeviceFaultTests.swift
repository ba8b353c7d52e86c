import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import OtaflashUpdate
import OtaflashWire
import Testing

/// Tests of faults of link, flash and behavior on devices without the OTA service.
@Suite struct DeviceFaultTests {
  static let image = makeImage(9000, version: FirmwareVersion(1, 3, 0))
  static let file = BootableFile()

  // MARK: The link

  @Test(arguments: ["smp", "nordic-dfu", "nordic-legacy", "infinitime"])
  func aCutIsDetectedByTheSupervisionTimeout(kind: String) throws {
    try withBoard("\(kind)?cut-after=1s") { board, clock in
      var host = try await BareHost.connected(to: board, mtu: 23)
      let begun = clock.now
      await host.waitForEnd()
      #expect(begun.duration(to: clock.now) > .milliseconds(1000))
      _ = try await BareHost.connected(to: board, mtu: 23)
      #expect(board.counters.connections == 2)
    }
  }

  @Test func aLostNotificationIsAMissingAnswer() throws {
    try withBoard("smp?notification-loss=100%") { board, clock in
      var host = try await SMPHost.connected(to: board)
      try await host.post(SMPOS.Echo("hi"))
      await clock.pause(for: .seconds(5))
      // A read is answered, but no notification arrives before the answer.
      _ = try await host.host.read(BluetoothUUID(0x2A26))
      #expect(host.host.takeInbox() == [])
    }
  }

  @Test func aSilentDeviceConnectsWithoutAnswers() throws {
    try withBoard("nordic-dfu?silent") { board, clock in
      let link = try await board.dial()
      try await link.send(ATTPDU.request(.exchangeMTU(clientReceiveMTU: 100)).encoded)
      await clock.pause(for: .seconds(5))
      #expect(board.counters.pdus == 1)
    }
  }

  // MARK: The flash

  @Test(arguments: ["nordic-dfu", "nordic-dfu?banks=single"])
  func aPageThatCannotBeWrittenSpoilsTheHash(profile: String) throws {
    let image = makeImage(30_000)
    try withBoard(profile + (profile.contains("?") ? "&" : "?") + "bad-block") { board, clock in
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      _ = try await dfu.sendInit(InitPacketBuilder(for: image).signed)
      #expect(try await dfu.sendImage(image, on: clock) == "60 04 0b 0c")
    }
  }

  @Test func aPageThatCannotBeWrittenDoesNotMatch() throws {
    let file = BootableFile(body: makeImage(30_000))
    try withBoard("smp?bad-block&slot=64K") { board, _ in
      var host = try await SMPHost.connected(to: board)
      #expect(try await host.upload(file.bytes).matches == false)
    }
  }

  @Test func aBusyFlashBlocksAllAnswers() throws {
    try withBoard("smp?busy-forever&slot=64K") { board, clock in
      var host = try await SMPHost.connected(to: board)
      _ = try await host.upload(BootableFile().bytes, to: 400)
      try await host.post(SMPImage.Erase())
      await clock.pause(for: .seconds(60))
      _ = try await host.host.read(BluetoothUUID(0x2A26))
      #expect(host.host.takeInbox() == [])
      #expect(board.counters.flashOperations == 10)
    }
  }

  // MARK: After the activation

  @Test func theApplicationNeverAdvertisesAgain() throws {
    try withBoard("nordic-dfu?never-returns") { board, clock in
      let packet = InitPacketBuilder(for: Self.image).signed
      try await SecureDFUHost.flash(Self.image, initPacket: packet, to: board, on: clock)
      await #expect(throws: ConnectFault.self) {
        _ = try await board.dial(address: nil, within: .seconds(30))
      }
    }
  }

  @Test(arguments: ["reverts", "comes-back-old"])
  func theBootloaderKeepsTheOldApplication(fault: String) throws {
    try withBoard("nordic-dfu?\(fault)") { board, clock in
      let factory = try board.runningImage()
      let packet = InitPacketBuilder(for: Self.image).signed
      try await SecureDFUHost.flash(Self.image, initPacket: packet, to: board, on: clock)
      var host = try await BareHost.connected(to: board, at: board.address)
      #expect(try await host.read(SecureDFUHost.firmwareRevision) == Array("1.2.0".utf8))
      #expect(try board.runningImage() == factory)
    }
  }

  @Test func anImageOtherThanTheSentImageRuns() throws {
    try withBoard("nordic-dfu?other-image") { board, clock in
      let packet = InitPacketBuilder(for: Self.image).signed
      try await SecureDFUHost.flash(Self.image, initPacket: packet, to: board, on: clock)
      var host = try await BareHost.connected(to: board, at: board.address)
      #expect(try await host.read(SecureDFUHost.firmwareRevision) == Array("0.0.1".utf8))
    }
  }

  @Test func theApplicationReturnsAtAnotherAddress() throws {
    try withBoard("smp?new-address&slot=64K") { board, _ in
      var host = try await SMPHost.connected(to: board)
      _ = try await host.upload(Self.file.bytes)
      _ = try await host.setState(Self.file.hash, confirm: true)
      try await host.reset()
      await #expect(throws: ConnectFault.self) { _ = try await board.dial() }
    }
  }

  // MARK: Misbehavior

  @Test func aWrongChecksumIsReportedOnceOrAlways() throws {
    for (fault, answers) in [
      ("wrong-crc-once", [false, true, true]), ("wrong-crc-always", [false, false, false]),
    ] {
      try withBoard("nordic-dfu?\(fault)") { board, clock in
        var dfu = try await SecureDFUHost.inBootloader(of: board)
        _ = try await dfu.sendInit(InitPacketBuilder(for: Self.image).signed)
        await clock.pause(for: .milliseconds(200))
        _ = try await dfu.ask("01 02 00 10 00 00")
        await clock.pause(for: .milliseconds(120))
        try await dfu.send(Self.image.prefix(4096))
        for isRight in answers {
          let reported = littleEndian(try await dfu.ask(hex("03"))[7..<11])
          #expect((reported == CRC32.checksum(Self.image.prefix(4096))) == isRight)
        }
      }
    }
  }

  @Test func aForeignStateIsClaimedOnce() throws {
    try withBoard("nordic-dfu?foreign-state") { board, _ in
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      _ = try await dfu.sendInit(InitPacketBuilder(for: Self.image).signed)
      #expect(littleEndian(try await dfu.ask(hex("06 02"))[7..<11]) == 4500)
      #expect(littleEndian(try await dfu.ask(hex("06 02"))[7..<11]) == 0)
    }
  }

  @Test(arguments: [
    ("repeat-offset", [400, 400, 400]), ("jump-back", [400, 0]),
    ("beyond-end", [1000 + 1104]),
  ])
  func aServerReportsWrongOffsets(fault: String, reported: [Int]) throws {
    let file = BootableFile(body: makeImage(1000))
    try withBoard("smp?\(fault)&slot=64K") { board, _ in
      var host = try await SMPHost.connected(to: board)
      for (index, offset) in reported.enumerated() {
        let start = index * 400
        let data = Array(file.bytes[start..<min(start + 400, file.bytes.count)])
        let answer = try await host.call(
          SMPImage.Upload(
            offset: start, data: data,
            announcement: start == 0 ? SMPHost.announce(file.bytes) : nil)
        ).get()
        #expect(answer.offset == offset)
      }
    }
  }
}
