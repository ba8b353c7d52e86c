import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the messages, with check values that were computed independently.
@Suite struct TelinkMessagesTests {
  @Test func theChecksumMatchesItsCheckValue() {
    #expect(TelinkDataPDU.checksum(Array("123456789".utf8)) == 0x4B37)
  }

  @Test func dataPDUsMatchTheirCheckValues() {
    let first = TelinkDataPDU.encoded(index: 0, [UInt8](0...15)[...])
    #expect(hex(first) == "0000000102030405060708090a0b0c0d0e0f7bf3")
    let second = TelinkDataPDU.encoded(index: 1, [UInt8](repeating: 0xFF, count: 16)[...])
    #expect(hex(second) == "0100ffffffffffffffffffffffffffffffff6068")
  }

  @Test(arguments: [1, 15, 16, 17, 80, 239, 240])
  func theLastPDUIsPaddedToAMultipleOf16(_ rest: Int) {
    let pdu = TelinkDataPDU.encoded(index: 3, [UInt8](repeating: 0x5A, count: rest)[...])
    #expect(pdu.count == (rest + 15) / 16 * 16 + 4)
    #expect(pdu.dropFirst(2 + rest).dropLast(2).allSatisfy { $0 == 0xFF })
  }

  @Test func commandsMatchTheirCheckValues() {
    #expect(hex(TelinkCommand.start.encoded) == "01ff")
    #expect(hex(TelinkCommand.end(lastIndex: 5).encoded) == "02ff0500faff")
    let start = TelinkCommand.startExtended(pduLength: 80, comparesVersion: false)
    #expect(hex(start.encoded) == "03ff5000" + String(repeating: "00", count: 16))
    #expect(hex(TelinkCommand.requestVersion(0x0102).encoded) == "04ff020101")
  }

  @Test func notificationsAreDecoded() throws {
    #expect(
      try TelinkNotice(decoding: [5, 0xFF, 2, 1, 1]) == .version(0x0102, isAccepted: true))
    #expect(try TelinkNotice(decoding: [6, 0xFF, 0, 0]) == .result(.success))
    #expect(try TelinkNotice(decoding: [6, 0xFF, 15, 0]) == .result(.notSupported))
    #expect(try TelinkNotice(decoding: [8, 0xFF, 0x10, 0]) == .acceptedPDUs(16))
    #expect(try TelinkNotice(decoding: [9, 0xFF, 0, 0, 1, 0]) == .acceptedBytes(65_536))
  }

  @Test(arguments: [[], [6], [6, 0xFF], [5, 0xFF, 1], [9, 0xFF, 0, 0, 0]] as [[UInt8]])
  func notificationsThatEndEarlyAreRejected(_ bytes: [UInt8]) {
    #expect(throws: TelinkDecodeFault.cutOff(bytes: bytes.count)) {
      try TelinkNotice(decoding: bytes)
    }
  }

  @Test func unknownNotificationsAreRejected() {
    #expect(throws: TelinkDecodeFault.unknown(0xFF07)) { try TelinkNotice(decoding: [7, 0xFF]) }
  }

  /// Every result code, also an undefined code, has a message, a correction and a remedy.
  @Test(arguments: Array(1...0x11) as [UInt8])
  func everyResultIsAMessageWithARemedy(_ code: UInt8) {
    let words = TelinkResult(rawValue: code).inWords
    #expect(words.code == "Telink OTA \(code)")
    #expect(!words.meaning.isEmpty && !words.meaning.hasSuffix("."))
    #expect(words.advice.hasSuffix("the next transfer starts over."))
    #expect(words.remedy != nil)
  }

  @Test func theDefinedResultsHaveDifferentMessages() {
    let meanings = ((1...0x0D).map { UInt8($0) } + [0x0E, 0x0F, 0x10]).map {
      TelinkResult(rawValue: $0).inWords.meaning
    }
    #expect(Set(meanings).count == meanings.count)
  }
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
