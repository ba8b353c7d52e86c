import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

extension OTABegin {
  /// The image in the test vectors of the document.
  static let vector = OTABegin(
    flags: [], imageSize: 9, imageCRC32: 0xCBF4_3926, version: FirmwareVersion(1, 3, 0),
    hardware: HardwareID(0xA001))
}

/// The bytes of docs/ota-service.md, section 11, read from the document itself.
@Suite struct OTAMessagesTests {
  private static let zeros = [UInt8](repeating: 0, count: 16)
  private static let authorize = "AUTHORIZE, key = 32 bytes `00 01 … 1F`"

  /// Every exchange over Control: the request and the result.
  static let exchanges: [(what: String, request: OTARequest, result: UInt8)] = [
    ("INFO, host knows version 1", .info(hostVersion: 1), 0),
    ("INFO of a host with version 0", .info(hostVersion: 0), 0x0A),
    ("RUNNING, after a normal boot", .running, 0),
    ("RESUME POINT, nothing held", .resumePoint, 0),
    ("RESUME POINT, 4 bytes held", .resumePoint, 0),
    ("CHALLENGE", .challenge, 0),
    (
      authorize,
      .authorize(
        proof: OTAProof.proof(
          key: Array(0..<32), challenge: Array(0..<16), hardware: HardwareID(0xA001))), 0
    ),
    ("a wrong proof", .authorize(proof: zeros), 0x0B),
    ("BEGIN", .begin(.vector), 0),
    ("REWIND to 4 (page 0)", .rewind(offset: 4), 0),
    ("VERIFY of the complete image", .verify, 0),
    ("ACTIVATE", .activate, 0),
    ("CONFIRM, nothing on trial", .confirm, 0x0E),
    ("ABORT, discarding", .abort(discard: true), 0),
  ]
  private static let others: Set<String> = [
    "unknown opcode", "Status then", "Status read then", "Data, bytes 0 ..< 4",
    "Data, bytes 5 ..< 9 while next offset is 4, as a Write Command",
  ]

  @Test func everyVectorOfTheDocumentIsTested() throws {
    let known = Set(Self.exchanges.map(\.what)).union(Self.others)
    #expect(Set(try ServiceDocument.rows(of: "## 11.").map { $0[0] }) == known)
  }

  @Test(arguments: exchanges)
  func aRequestHasItsAnswer(_ what: String, _ request: OTARequest, _ result: UInt8) throws {
    let bytes = try ServiceDocument.vector(what)
    #expect(request.encoded == bytes[0])
    let answer = try OTAAnswer(decoding: bytes[1])
    #expect(answer.opcode == request.opcode | 0x80)
    #expect(answer.result == result)
  }

  @Test func anUnknownOpcodeIsAnsweredWithItself() throws {
    let bytes = try ServiceDocument.vector("unknown opcode")
    let answer = try OTAAnswer(decoding: bytes[1])
    #expect(answer == (try OTAAnswer(decoding: [bytes[0][0] | 0x80, 1])))
    #expect(OTARefusal(rawValue: answer.result) == .unknownOpcode)
  }

  @Test func infoDescribesTheDevice() throws {
    let info = try OTAInfo(decoding: payload("INFO, host knows version 1"))
    #expect(info.version == 1)
    #expect(info.needsAuthorization && !info.isAuthorized && info.hasSink)
    #expect(!info.takesPatches && !info.erasesAhead)
    #expect(info.hardware == HardwareID(0xA001))
    #expect(info.slotSize == 0x4000)
    #expect(info.pageSize == 0x400)
    #expect(info.largestChunk == 100)
    #expect(info.bufferSize == 1024)
  }

  @Test func runningDescribesTheRunningImage() throws {
    let running = try OTARunning(decoding: payload("RUNNING, after a normal boot"))
    #expect(running.version == FirmwareVersion(1, 2, 3))
    #expect(running.imageSize == 1000)
    #expect(running.imageCRC32 == 0x1122_3344)
    #expect(running.bootOutcome == .normal)
    #expect(!running.isOnTrial)
  }

  @Test func theResumePointDescribesTheHeldData() throws {
    let nothing = try OTAResumePoint(decoding: payload("RESUME POINT, nothing held"))
    #expect(nothing == (try OTAResumePoint(decoding: Self.zeros)))
    #expect(nothing.imageSize == 0 && nothing.nextOffset == 0)
    let held = try OTAResumePoint(decoding: payload("RESUME POINT, 4 bytes held"))
    #expect(held.imageSize == 9)
    #expect(held.imageCRC32 == 0xCBF4_3926)
    #expect(held.nextOffset == 4)
    #expect(held.heldCRC32 == CRC32.checksum(Array("1234".utf8)))
  }

  @Test(arguments: ["BEGIN", "REWIND to 4 (page 0)"])
  func aPositionIsAnOffsetAndItsChecksum(_ what: String) throws {
    let position = try OTAPosition(decoding: payload(what))
    #expect(position.nextOffset == 0)
    #expect(position.crc32 == 0)
    let later = try OTAPosition(decoding: [0, 4, 0, 0, 0x26, 0x39, 0xF4, 0xCB])
    #expect(later.nextOffset == 1024)
    #expect(later.crc32 == 0xCBF4_3926)
  }

  private static let held = CRC32.checksum(Array("1234".utf8))

  private static let statuses: [(String, OTAStatus)] = [
    (
      "Status then",
      OTAStatus(
        state: .receiving, note: .none, window: 1024, nextOffset: 0, crc32: 0, durableOffset: 0)
    ),
    (
      "Status read then",
      OTAStatus(
        state: .receiving, note: .none, window: 1020, nextOffset: 4, crc32: held, durableOffset: 0)
    ),
    (
      "Data, bytes 5 ..< 9 while next offset is 4, as a Write Command",
      OTAStatus(
        state: .receiving, note: .gap, window: 1020, nextOffset: 4, crc32: held, durableOffset: 0)
    ),
  ]

  @Test(arguments: statuses)
  func aStatusIsEncodedAndDecoded(_ what: String, _ status: OTAStatus) throws {
    let bytes = try #require(try ServiceDocument.vector(what).last)
    #expect(try OTAStatus(decoding: bytes) == status)
    #expect(status.encoded == bytes)
  }

  @Test func aStatusAtItsLimitsIsEncodedAndDecoded() throws {
    let bytes: [UInt8] =
      [4, 5, 0xFF, 0xFF] + [UInt8](repeating: 0xFF, count: 8) + [0xFE, 0xFF, 0xFF, 0xFF]
    let status = try OTAStatus(decoding: bytes)
    #expect(status.state == .activating && status.note == .notAuthorized)
    #expect(status.window == 65_535)
    #expect(status.nextOffset == 0xFFFF_FFFF)
    #expect(status.durableOffset == 0xFFFF_FFFE)
    #expect(status.limit == 0xFFFF_FFFF + 65_535)
    #expect(status.encoded == bytes)
  }

  private static let flags: [(OTABegin.Flags, UInt8)] = [
    (.restart, 1), (.allowDowngrade, 2), (.allowOtherHardware, 4), (.sink, 8),
    ([.restart, .sink], 9), (.patch, 16),
  ]

  @Test(arguments: flags)
  func beginCarriesItsFlags(_ flags: OTABegin.Flags, _ byte: UInt8) {
    var begin = OTABegin.vector
    begin.flags = flags
    #expect(OTARequest.begin(begin).encoded[1] == byte)
  }

  @Test func abortKeepsTheHeldDataByDefault() {
    #expect(OTARequest.abort(discard: false).encoded == [0x0B, 0])
  }

  // MARK: Bad input

  private struct Message: Sendable {
    let name: String
    let size: Int
    let decode: @Sendable ([UInt8]) throws(OTADecodeFault) -> Void
  }

  private static let messages: [Message] = [
    Message(name: "Status", size: 16) { bytes throws(OTADecodeFault) in
      _ = try OTAStatus(decoding: bytes)
    },
    Message(name: "Control", size: 2) { bytes throws(OTADecodeFault) in
      _ = try OTAAnswer(decoding: bytes)
    },
    Message(name: "INFO", size: 18) { bytes throws(OTADecodeFault) in
      _ = try OTAInfo(decoding: bytes)
    },
    Message(name: "RUNNING", size: 14) { bytes throws(OTADecodeFault) in
      _ = try OTARunning(decoding: bytes)
    },
    Message(name: "RESUME POINT", size: 16) { bytes throws(OTADecodeFault) in
      _ = try OTAResumePoint(decoding: bytes)
    },
    Message(name: "BEGIN or REWIND", size: 8) { bytes throws(OTADecodeFault) in
      _ = try OTAPosition(decoding: bytes)
    },
  ]

  @Test(arguments: messages.indices)
  func aMessageMayBeLongerButNotShorter(_ index: Int) {
    let message = Self.messages[index]
    for size in 0..<message.size {
      #expect(throws: OTADecodeFault.tooShort(message.name, bytes: size)) {
        try message.decode([UInt8](repeating: 0, count: size))
      }
    }
    for size in [message.size, message.size + 1, 512] {
      #expect(throws: Never.self) { try message.decode([UInt8](repeating: 0, count: size)) }
    }
  }

  @Test func valuesThatTheDocumentDoesNotDefineAreRefused() {
    var status = [UInt8](repeating: 0, count: 16)
    status[0] = 5
    #expect(throws: OTADecodeFault.unknownValue("Status state", 5)) {
      try OTAStatus(decoding: status)
    }
    status[0] = 1
    status[1] = 7
    #expect(throws: OTADecodeFault.unknownValue("Status error", 7)) {
      try OTAStatus(decoding: status)
    }
    var running = [UInt8](repeating: 0, count: 14)
    running[12] = 3
    #expect(throws: OTADecodeFault.unknownValue("RUNNING boot outcome", 3)) {
      try OTARunning(decoding: running)
    }
  }

  private func payload(_ what: String) throws -> [UInt8] {
    try OTAAnswer(decoding: try ServiceDocument.vector(what)[1]).payload
  }
}
