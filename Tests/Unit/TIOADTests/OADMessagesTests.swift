import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of the messages, with check values that were computed independently.
@Suite struct OADMessagesTests {
  /// Image type 1 with number 0, 0x12345 bytes, version 00 01 00 01.
  @Test func theAnnouncementMatchesItsCheckValue() throws {
    let size = 0x12345
    var bytes = SampleImage.oad(
      [UInt8](repeating: 0x5A, count: size), identification: Array("OAD IMG ".utf8), type: 1,
      softwareVersion: [0, 1, 0, 1])
    bytes.removeSubrange(size...)
    bytes[19] = 0
    bytes.replaceSubrange(24..<28, with: Self.word(UInt32(size)))
    bytes.replaceSubrange(48..<52, with: Self.word(UInt32(size - 44)))
    bytes.replaceSubrange(8..<12, with: Self.word(OADImage.checksum(of: bytes)))
    let payload = try #require(
      OADPayload(try FirmwareImage.decode(name: "app.bin", bytes: bytes)))
    #expect(payload.generation == .bim && payload.headerSize == 56)
    #expect(hex(payload.announcement) == "4f414420494d47200301ffff01004523010000010001")
  }

  private static func word(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }

  /// The size field of an MCUboot header becomes the number of bytes to send.
  @Test func theAnnouncementOfAnMCUbootImageContainsTheCompleteSize() throws {
    let image = try oad(1000, for: "ti-oad-mcuboot", version: FirmwareVersion(1, 2, 0x0304))
    let payload = try #require(OADPayload(image))
    let size = image.bytes.count
    #expect(payload.generation == .mcuboot && size == 1000 + 32 + 40 && payload.headerSize == 0)
    var expected = Array(image.bytes[..<32])
    expected.replaceSubrange(12..<16, with: Self.word(UInt32(size)))
    #expect(payload.announcement == expected)
  }

  @Test func blocksAndCommandsMatchTheirCheckValues() {
    #expect(hex(OADBlock.encoded(number: 5, [1, 2, 3][...])) == "05000000010203")
    #expect(hex(OADBlock.encoded(number: 0x0102_0304, [][...])) == "04030201")
    let commands: [OADCommand] = [.blockSize, .start, .enable, .cancel, .softwareVersion]
    #expect(commands.map { hex($0.encoded) } == ["01", "03", "04", "05", "07"])
  }

  @Test func notificationsAreDecoded() throws {
    #expect(try OADNotice(decoding: [0x12, 0, 5, 0, 0, 0]) == .request(.success, block: 5))
    #expect(try OADNotice(decoding: [0x12, 0x0E, 0, 0, 0, 0]) == .request(.complete, block: 0))
    #expect(try OADNotice(decoding: [0x01, 0xF4, 0]) == .blockSize(244))
    #expect(try OADNotice(decoding: [0x01, 5]) == .status(1, .notStarted))
    #expect(try OADNotice(decoding: [0x04, 6]) == .status(4, .incomplete))
    #expect(try OADNotice(decoding: [0x07, 1, 2, 3, 4]) == .softwareVersion([1, 2, 3, 4]))
    #expect(
      try OADNotice(decoding: [0x07, 1, 2, 0, 4, 0, 5]) == .softwareVersion([1, 2, 0, 4, 0, 5]))
    #expect(try OADNotice(decoding: [0xFF]) == .notSupported)
    #expect(try OADNotice(decoding: [0x09, 0xFF]) == .status(9, OADStatus(rawValue: 0xFF)))
  }

  @Test(arguments: [[], [0x12], [0x12, 0], [0x12, 0, 1, 0, 0], [0x04]] as [[UInt8]])
  func notificationsThatEndEarlyAreRejected(_ bytes: [UInt8]) {
    #expect(throws: OADDecodeFault.cutOff(bytes: bytes.count)) {
      try OADNotice(decoding: bytes)
    }
  }

  @Test func unknownNotificationsAreRejected() {
    #expect(throws: OADDecodeFault.unknown(0x22, bytes: 4)) {
      try OADNotice(decoding: [0x22, 1, 2, 3])
    }
  }

  @Test func theReportedVersionHasTwoForms() {
    #expect(
      OADReportedVersion([0x01, 0x03, 0, 0])?.version == FirmwareVersion(1, 3, 0))
    #expect(
      OADReportedVersion([1, 2, 3, 4, 5, 6])
        == .mcuboot(FirmwareVersion(1, 2, 0x0304), build: 0x0506))
    #expect(OADReportedVersion([1, 2, 3]) == nil)
  }

  // MARK: Messages for users

  /// Every status, also an undefined status, has a message, a correction and a remedy.
  @Test(arguments: Array(1...20) as [UInt8])
  func everyStatusIsAMessageWithARemedy(_ code: UInt8) {
    let words = OADStatus(rawValue: code).inWords
    #expect(words.code == "TI OAD \(code)")
    #expect(!words.meaning.isEmpty && !words.meaning.hasSuffix("."))
    #expect(words.advice.hasSuffix(".") && words.remedy != nil)
  }

  @Test func theDefinedStatusesHaveDifferentMessages() {
    let defined = (1...18).filter { $0 != 14 }.map { UInt8($0) }
    let meanings = defined.map { OADStatus(rawValue: $0).inWords.meaning }
    #expect(Set(meanings).count == meanings.count)
  }

  @Test func theObstaclesAreMessagesWithARemedy() {
    for refusal: ProtocolRefusal in [
      .oadWrongFormat(.bim), .oadWrongFormat(.mcuboot), .oadBlockTooLong(240, mtu: 23),
      .oadNeedsPadding, .oadNoAnswer,
    ] {
      #expect(!refusal.meaning.hasSuffix(".") && refusal.advice.hasSuffix("."))
      #expect(refusal.remedy != nil && refusal.code != nil)
    }
  }
}
