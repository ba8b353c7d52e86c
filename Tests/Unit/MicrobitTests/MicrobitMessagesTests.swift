import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the messages and of the order of blocks.
@Suite struct MicrobitMessagesTests {
  @Test func commandsMatchTheSpecification() {
    #expect(MicrobitCommand.region(.runtime).encoded == [0x00, 0x01])
    #expect(MicrobitCommand.end.encoded == [0x02])
    #expect(MicrobitCommand.status.encoded == [0xEE])
    #expect(MicrobitCommand.restart(.pairing).encoded == [0xFF, 0x00])
    #expect(MicrobitCommand.restart(.application).encoded == [0xFF, 0x01])
  }

  /// The first packet has the lower half of the address, the second the upper half; numbers
  /// continue from 255 with 0.
  @Test func aBlockIsFourPackets() {
    let block = MicrobitBlock(address: 0x0004_7A40, bytes: (0..<64).map { UInt8($0) })
    let packets = block.packets(from: 0xFE)
    #expect(
      packets.map { Array($0.prefix(4)) } == [
        [1, 0x7A, 0x40, 0xFE], [1, 0x00, 0x04, 0xFF], [1, 0, 0, 0], [1, 0, 0, 1],
      ])
    #expect(packets.flatMap { $0.dropFirst(4) } == block.bytes)
    #expect(packets.allSatisfy { $0.count == 20 })
  }

  @Test func notificationsAreDecoded() throws {
    let region: [UInt8] = [0, 1, 0, 1, 0xC0, 0, 0, 4, 0x79, 0xFF, 1, 2, 3, 4, 5, 6, 7, 8]
    #expect(
      try MicrobitNotice(decoding: region)
        == .region(
          id: 1,
          MicrobitRegion(start: 0x1_C000, end: 0x4_79FF, hash: [1, 2, 3, 4, 5, 6, 7, 8])))
    #expect(try MicrobitNotice(decoding: [1, 0xFF]) == .written)
    #expect(try MicrobitNotice(decoding: [1, 0xAA]) == .outOfOrder)
    #expect(try MicrobitNotice(decoding: [0xEE, 1, 0]) == .status(version: 1, .pairing))
    #expect(try MicrobitNotice(decoding: [0xEE, 1, 1]) == .status(version: 1, .application))
  }

  @Test(arguments: [[], [0], [0, 1, 2], [1], [0xEE, 1]] as [[UInt8]])
  func notificationsThatEndEarlyAreRejected(_ bytes: [UInt8]) {
    #expect(throws: MicrobitDecodeFault.cutOff(bytes: bytes.count)) {
      try MicrobitNotice(decoding: bytes)
    }
  }

  @Test func unknownNotificationsAreRejected() {
    #expect(throws: MicrobitDecodeFault.unknown(7)) { try MicrobitNotice(decoding: [7]) }
    #expect(throws: MicrobitDecodeFault.unknownState(3)) { try MicrobitNotice(decoding: [1, 3]) }
    #expect(throws: MicrobitDecodeFault.unknownMode(2)) {
      try MicrobitNotice(decoding: [0xEE, 1, 2])
    }
  }

  // MARK: The order of blocks

  /// Erased blocks are not sent, except the first of a page.
  @Test func erasedBlocksAreSkippedWithinAPage() {
    var script = [UInt8](repeating: 0xFF, count: 3 * 1024 + 64)
    script[0] = 1
    script[700] = 2
    script[3 * 1024 + 5] = 3
    let transfer = MicrobitTransfer(start: 0x2_0000, script: script, pageSize: 1024)
    #expect(transfer.offsets == [0, 640, 1024, 2048, 3072])
  }

  @Test func theNumbersFollowTheAnswersOfTheDevice() throws {
    var transfer = MicrobitTransfer(
      start: 0, script: [UInt8](repeating: 1, count: 200), pageSize: 4096)
    #expect(transfer.number == 0 && transfer.block?.address == 0)
    transfer.didSend()
    transfer.rejected()
    #expect(transfer.number == 4 && transfer.block?.address == 0)
    transfer.didSend()
    transfer.confirmed()
    #expect(transfer.number == 8 && transfer.block?.address == 64 && transfer.written == 64)
    transfer.numbersRestarted()
    #expect(transfer.number == 0 && transfer.block?.address == 64)
    for _ in 0..<3 { transfer.confirmed() }
    #expect(transfer.isComplete && transfer.written == 200 && transfer.block == nil)
  }

  @Test func theLastBlockIsPadded() {
    let transfer = MicrobitTransfer(start: 0, script: [1, 2, 3], pageSize: 4096)
    #expect(transfer.block?.bytes == [1, 2, 3] + [UInt8](repeating: 0xFF, count: 61))
  }

  @Test func aBlockIsNotSentIndefinitely() {
    var transfer = MicrobitTransfer(start: 0, script: [1], pageSize: 4096)
    for _ in 0..<MicrobitTransfer.attemptsMaximum {
      #expect(!transfer.isExhausted)
      transfer.didSend()
      transfer.rejected()
    }
    #expect(transfer.isExhausted)
  }

  /// Every obstacle has a message, a correction and a remedy.
  @Test(arguments: [
    ProtocolRefusal.microbitRuntimeDiffers, .microbitProgramMissing(for: .v1),
    .microbitScriptMissing, .microbitSilent, .microbitKeepsRunning, .microbitOtherProgram,
  ])
  func everyObstacleIsAMessageWithARemedy(_ refusal: ProtocolRefusal) {
    #expect(!refusal.meaning.isEmpty && !refusal.meaning.hasSuffix("."))
    #expect(refusal.advice.hasSuffix(".") && refusal.remedy != nil && refusal.code != nil)
  }
}
