import OtaflashTestSupport
import Testing

@testable import OtaflashUpdate

@Suite struct LegacyDFUMessagesTests {
  static let requests: [(LegacyDFURequest, String)] = [
    (.start(.application), "01 04"), (.start([.softDevice, .bootloader]), "01 03"),
    (.initPacketBegin, "02 00"), (.initPacketEnd, "02 01"), (.receive, "03"), (.validate, "04"),
    (.activate, "05"), (.reset, "06"), (.reportReceived, "07"),
    (.setReceiptNotification(packets: 10), "08 0A 00"),
  ]

  @Test(arguments: requests)
  func aRequestIsEncodedAndDecoded(_ request: LegacyDFURequest, _ bytes: String) throws {
    #expect(request.encoded == hex(bytes))
    #expect(try LegacyDFURequest(decoding: hex(bytes)) == request)
  }

  @Test(arguments: [
    ("", DFUDecodeFault.empty), ("09", .unknownOpcode(9)), ("10 01 01", .unknownOpcode(0x10)),
    ("01", .wrongLength("start", bytes: 0, expected: 1)),
    ("02 02", .unknownValue("init packet phase", 2)),
    ("08 0A", .wrongLength("set receipt notification", bytes: 1, expected: 2)),
  ])
  func anInvalidRequestIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try LegacyDFURequest(decoding: hex(bytes)) }
  }

  static let notices: [(LegacyDFUNotice, String)] = [
    (.answer(.start, .success), "10 01 01"), (.answer(.receive, .sizeOverLimit), "10 03 04"),
    (.answer(LegacyDFUOpcode(rawValue: 0x42), .notSupported), "10 42 03"),
    (.received(bytes: 0x0001_0002), "10 07 01 02 00 01 00"),
    (.receipt(bytes: 200), "11 C8 00 00 00"),
  ]

  @Test(arguments: notices)
  func aNotificationIsEncodedAndDecoded(_ notice: LegacyDFUNotice, _ bytes: String) throws {
    #expect(notice.encoded == hex(bytes))
    #expect(try LegacyDFUNotice(decoding: hex(bytes)) == notice)
  }

  @Test(arguments: [
    ("", DFUDecodeFault.empty), ("60 01 01", .unknownOpcode(0x60)),
    ("10 01", .wrongLength("response", bytes: 2, expected: 3)),
    ("10 01 00", .unknownValue("status", 0)), ("10 01 07", .unknownValue("status", 7)),
    ("10 07 01", .wrongLength("report of what was received", bytes: 0, expected: 4)),
    ("11 C8 00", .wrongLength("receipt", bytes: 2, expected: 4)),
  ])
  func anInvalidNotificationIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try LegacyDFUNotice(decoding: hex(bytes)) }
  }

  @Test func sizesAndVersionAreEncoded() throws {
    let sizes = LegacyDFUSizes(softDevice: 1, bootloader: 0x0200, application: 0x0003_0000)
    #expect(sizes.encoded == hex("01 00 00 00 00 02 00 00 00 00 03 00"))
    #expect(try LegacyDFUSizes(decoding: sizes.encoded) == sizes)
    #expect(sizes.total == 0x0003_0201)
    let version = try LegacyDFUVersion(decoding: hex("08 00"))
    #expect(version == LegacyDFUVersion(major: 0, minor: 8))
    #expect(version >= .withInitPacket && version > .application)
    #expect("\(version)" == "0.8" && version.encoded == hex("08 00"))
    #expect(throws: DFUDecodeFault.wrongLength("sizes", bytes: 4, expected: 12)) {
      try LegacyDFUSizes(decoding: hex("00 00 01 00"))
    }
  }

  @Test func everyRefusalHasAMeaningAndARemedy() {
    for opcode in [LegacyDFUOpcode.start, .initPacket, .receive, .validate] {
      for status in LegacyDFUStatus.allCases where status != .success {
        let words = status.inWords(of: opcode, by: .bootloader)
        #expect(!words.meaning.hasSuffix("."))
        #expect(words.advice.hasSuffix("."))
        #expect(words.code == "legacy DFU \(opcode.rawValue)/\(status.rawValue)")
        // The number of banks is unknown, so the message covers both. A watch keeps its
        // application.
        #expect(words.advice.contains("single bank") == (opcode != .start))
        let watch = status.inWords(of: opcode, by: .infiniTime)
        #expect(!watch.advice.contains("bank"))
      }
    }
  }

  /// The meaning of a status number depends on the operation.
  @Test func invalidStateIsAnotherTransferOnlyForStart() {
    let status = LegacyDFUStatus.invalidState
    #expect(
      status.inWords(of: .start, by: .bootloader).meaning
        == "it is in the middle of another transfer")
    #expect(
      status.inWords(of: .initPacket, by: .bootloader).meaning
        == "the init packet did not reach it")
  }
}
