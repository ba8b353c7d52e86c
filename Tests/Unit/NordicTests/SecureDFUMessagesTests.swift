import OtaflashFirmware
import OtaflashTestSupport
import Testing

@testable import OtaflashUpdate

/// Tests of the bytes of the Control Point in both directions.
@Suite struct SecureDFUMessagesTests {
  static let requests: [(SecureDFURequest, String)] = [
    (.protocolVersion, "00"), (.create(.command, size: 141), "01 01 8D 00 00 00"),
    (.create(.data, size: 4096), "01 02 00 10 00 00"),
    (.setReceiptNotification(packets: 0), "02 00 00"),
    (.setReceiptNotification(packets: 0x0C0A), "02 0A 0C"), (.checksum, "03"), (.execute, "04"),
    (.select(.command), "06 01"), (.select(.data), "06 02"), (.mtu, "07"), (.ping(0x2A), "09 2A"),
    (.hardwareVersion, "0A"), (.firmwareVersion(image: 1), "0B 01"), (.abort, "0C"),
  ]

  @Test(arguments: requests)
  func aSecureDFURequestIsEncodedAndDecoded(_ request: SecureDFURequest, _ bytes: String) throws {
    #expect(request.encoded == hex(bytes))
    #expect(try SecureDFURequest(decoding: hex(bytes)) == request)
    #expect(request.opcode.rawValue == hex(bytes)[0])
  }

  @Test(arguments: [
    ("", DFUDecodeFault.empty), ("05", .unknownOpcode(5)), ("08 01", .unknownOpcode(8)),
    ("60 01 01", .unknownOpcode(0x60)),
    ("01 02 00 10 00", .wrongLength("create", bytes: 4, expected: 5)),
    ("01 03 00 10 00 00", .unknownValue("object type", 3)),
    ("06", .wrongLength("select", bytes: 0, expected: 1)),
    ("06 00", .unknownValue("object type", 0)),
    ("04 00", .wrongLength("execute", bytes: 1, expected: 0)),
  ])
  func anInvalidSecureDFURequestIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try SecureDFURequest(decoding: hex(bytes)) }
  }

  /// The CRC32s are calculated over the bytes 00…FF, repeated.
  static let responses: [(SecureDFUResponse, String)] = [
    (.done(.create), "60 01 01"), (.done(.execute), "60 04 01"),
    (
      .selected(
        SecureDFUSelection(sizeMaximum: 4096, progress: SecureDFUProgress(offset: 0, crc32: 0))),
      "60 06 01 00 10 00 00 00 00 00 00 00 00 00 00"
    ),
    (
      .progress(SecureDFUProgress(offset: 4096, crc32: 0xA291_2082)),
      "60 03 01 00 10 00 00 82 20 91 A2"
    ),
    (.refused(.create, .result(.operationNotPermitted)), "60 01 08"),
    (.refused(.execute, .extended(.hardwareVersionDiffers)), "60 04 0B 06"),
    (.refused(SecureDFUOpcode(rawValue: 0x55), .result(.opcodeNotSupported)), "60 55 02"),
    (.refused(.select, .undefined(0x09)), "60 06 09"),
    (.refused(.execute, .undefinedExtended(0x7F)), "60 04 0B 7F"),
  ]

  @Test(arguments: responses)
  func aResponseIsDecoded(_ response: SecureDFUResponse, _ bytes: String) throws {
    #expect(response.encoded == hex(bytes))
    #expect(try SecureDFUResponse(decoding: hex(bytes)) == response)
    #expect(response.opcode.rawValue == hex(bytes)[1])
  }

  @Test func theProgressOfTheExampleMatchesTheImage() {
    let image = PrefixChecksums((0..<8192).map { UInt8(truncatingIfNeeded: $0) })
    #expect(image.checksum(ofFirst: 4096) == 0xA291_2082)
    #expect(image.checksum(ofFirst: 8192) == 0xB667_5307)
  }

  @Test func aVersionOfAnotherTransportIsIgnored() throws {
    #expect(try SecureDFUResponse(decoding: hex("60 00 01 01")) == .done(.protocolVersion))
  }

  @Test(arguments: [
    ("", DFUDecodeFault.empty), ("20 01 01", .unknownOpcode(0x20)),
    ("60 03", .wrongLength("response", bytes: 2, expected: 3)),
    ("60 03 01 00", .wrongLength("checksum response", bytes: 1, expected: 8)),
    (
      "60 06 01 00 10 00 00 00 00 00 00", .wrongLength("select response", bytes: 8, expected: 12)
    ),
    ("60 04 0B", .wrongLength("extended error", bytes: 0, expected: 1)),
  ])
  func anInvalidResponseIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try SecureDFUResponse(decoding: hex(bytes)) }
  }

  /// Values that were not sent are not displayed, and a guess is marked as a guess.
  @Test func aGuessIsNotReportedAsANumber() {
    #expect(ProtocolRefusal.imageNotTaken.code == "Secure DFU 5")
    #expect(ProtocolRefusal.imageNotTaken.advice.contains("Most likely"))
    #expect(SecureDFURefusal.result(.operationNotPermitted).inWords().remedy == .startOver)
    #expect(!SecureDFURefusal.result(.insufficientResources).inWords().advice.contains("init"))
  }

  @Test func everyRefusalHasACauseARemedyAndANumber() throws {
    let results = SecureDFUResult.allCases.map(SecureDFURefusal.result)
    let errors = SecureDFUExtendedError.allCases.map(SecureDFURefusal.extended)
    let all = results + errors + [.undefined(9), .undefinedExtended(0x20)]
    for refusal in all {
      let words = refusal.inWords()
      #expect(!words.meaning.isEmpty && !words.meaning.hasSuffix("."))
      #expect(words.advice.hasSuffix("."))
      #expect(words.code == "Secure DFU \(refusal.code)")
      #expect(
        try SecureDFUResponse(decoding: [0x60, 0x04] + refusal.encoded)
          == .refused(.execute, refusal))
    }
    #expect(SecureDFURefusal.extended(.firmwareVersionTooLow).code == "11/5")
    #expect(SecureDFURefusal.result(.invalidObject).code == "5")
  }
}

@Suite struct ButtonlessDFUTests {
  @Test func buttonlessRequestsAreEncodedAndDecoded() throws {
    #expect(ButtonlessRequest.enterBootloader.encoded == hex("01"))
    let name = ButtonlessRequest.setAdvertisedName("Dfu00042")
    #expect(name.encoded == hex("02 08 44 66 75 30 30 30 34 32"))
    #expect(try ButtonlessRequest(decoding: name.encoded) == name)
    #expect(try ButtonlessRequest(decoding: hex("01")) == .enterBootloader)
  }

  @Test(arguments: [
    ("", DFUDecodeFault.empty), ("03", .unknownOpcode(3)),
    ("01 01", .wrongLength("enter bootloader", bytes: 2, expected: 1)),
    ("02", .wrongLength("set advertised name", bytes: 1, expected: 2)),
    ("02 00", .wrongLength("set advertised name", bytes: 2, expected: 2)),
    ("02 02 41", .wrongLength("set advertised name", bytes: 3, expected: 4)),
  ])
  func anInvalidButtonlessRequestIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try ButtonlessRequest(decoding: hex(bytes)) }
  }

  @Test func buttonlessAnswersAreEncodedAndDecoded() throws {
    for status in ButtonlessResponse.Status.allCases {
      let response = ButtonlessResponse(opcode: 1, status: status)
      #expect(response.encoded == [0x20, 0x01, status.rawValue])
      #expect(try ButtonlessResponse(decoding: response.encoded) == response)
      #expect(status.inWords.code == "buttonless \(status.rawValue)")
    }
  }

  @Test(arguments: [
    ("20 01", DFUDecodeFault.wrongLength("buttonless response", bytes: 2, expected: 3)),
    ("60 01 01", .unknownOpcode(0x60)), ("20 01 03", .unknownValue("status", 3)),
  ])
  func anInvalidButtonlessAnswerIsRefused(_ bytes: String, _ fault: DFUDecodeFault) {
    #expect(throws: fault) { try ButtonlessResponse(decoding: hex(bytes)) }
  }
}
