import Crypto
import OtaflashTestSupport
import OtaflashWire
import Testing

@testable import OtaflashUpdate

func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

/// Tests of the messages of the groups for files, settings, statistics and the clock. The vectors
/// were encoded by hand from Zephyr's description of the groups.
@Suite struct SMPDataMessageTests {
  @Test(
    "requests are encoded as the specification describes",
    arguments: [
      (
        SMPMessage(
          SMPFiles.Upload(name: "/a", offset: 0, data: [1, 2], length: 2), sequence: 5),
        "0a 00 001b 0008 05 00 a4 636c656e 02 636f6666 00 6464617461 420102 646e616d65 622f61"
      ),
      (
        SMPMessage(SMPFiles.Download(name: "/a", offset: 24), sequence: 1),
        "08 00 000f 0008 01 00 a2 636f6666 1818 646e616d65 622f61"
      ),
      (
        SMPMessage(SMPFiles.Status(name: "/a"), sequence: 1),
        "08 00 0009 0008 01 01 a1 646e616d65 622f61"
      ),
      (
        SMPMessage(SMPFiles.Checksum(name: "/a", type: "crc32", length: 16), sequence: 1),
        "08 00 0019 0008 01 02 a3 636c656e 10 646e616d65 622f61 6474797065 656372633332"
      ),
      (SMPMessage(SMPFiles.ChecksumTypes(), sequence: 1), "08 00 0001 0008 01 03 a0"),
      (SMPMessage(SMPFiles.Close(), sequence: 1), "0a 00 0001 0008 01 04 a0"),
      (
        SMPMessage(SMPSettings.Read(name: "a/b", maximum: 9), sequence: 1),
        "08 00 0014 0003 01 00 a2 646e616d65 63612f62 686d61785f73697a65 09"
      ),
      (
        SMPMessage(SMPSettings.Delete(name: "a/b"), sequence: 1),
        "0a 00 000a 0003 01 01 a1 646e616d65 63612f62"
      ),
      (SMPMessage(SMPSettings.Commit(), sequence: 1), "0a 00 0001 0003 01 02 a0"),
      (SMPMessage(SMPSettings.Load(), sequence: 1), "08 00 0001 0003 01 03 a0"),
      (SMPMessage(SMPSettings.Save(), sequence: 1), "0a 00 0001 0003 01 03 a0"),
      (SMPMessage(SMPStatistics.List(), sequence: 1), "08 00 0001 0002 01 01 a0"),
      (
        SMPMessage(SMPStatistics.Show(name: "s"), sequence: 1),
        "08 00 0008 0002 01 00 a1 646e616d65 6173"
      ),
      (SMPMessage(SMPOS.ReadDateTime(), sequence: 1), "08 00 0001 0000 01 04 a0"),
      (
        SMPMessage(SMPOS.WriteDateTime("2026-11-28T12:00:00"), sequence: 1),
        "0a 00 001e 0000 01 04 a1 686461746574696d65"
          + "73323032362d31312d32385431323a30303a3030"
      ),
    ])
  func requests(_ message: SMPMessage, _ bytes: String) throws {
    #expect(message.encoded == hex(bytes))
    let decoded = try SMPMessage(decoding: hex(bytes))
    #expect(decoded.encoded == message.encoded)
    _ = try SMPCall(decoded)
  }

  private func answer<Request: SMPRequest>(
    _ request: Request, _ body: String
  ) throws -> Result<Request.Response, SMPRefusal> {
    let bytes = hex(body)
    let command = Request.command
    let header = SMPHeader(
      version: .v2, operation: command.operation == .read ? .readResponse : .writeResponse,
      bodyLength: bytes.count, group: command.group, sequence: 1, command: command.number)
    return try SMPMessage(decoding: header.encoded + bytes).answer(to: Request.self)
  }

  @Test("answers are decoded, also from indefinite maps and with rc 0")
  func answers() throws {
    #expect(
      try answer(
        SMPFiles.Download(name: "/a", offset: 0),
        "bf 636f6666 00 6464617461 420102 627263 00 636c656e 02 ff"
      )
      .get() == .init(offset: 0, data: [1, 2], length: 2))
    #expect(
      try answer(SMPFiles.Upload(name: "/a", offset: 0, data: []), "a1 636f6666 1903e8").get()
        .offset
        == 1000)
    #expect(
      try answer(
        SMPFiles.Checksum(name: "/a"),
        "a3 6474797065 656372633332 636c656e 02 666f7574707574 1ab6cc4292"
      ).get().output
        == .number(0xB6CC_4292))
    #expect(
      try answer(
        SMPFiles.ChecksumTypes(),
        "a1 657479706573 a1 656372633332 a2 66666f726d6174 00 6473697a65 04"
      ).get().names
        == ["crc32"])
    #expect(
      try answer(
        SMPStatistics.Show(name: "s"),
        "a3 627263 00 646e616d65 6173 666669656c6473 a2 6161 01 6162 1bffffffffffffffff"
      )
      .get().counters.map(\.value) == [1, .max])
    #expect(
      try answer(SMPStatistics.List(), "a2 627263 00 69737461745f6c697374 82 6161 6162").get().names
        == ["a", "b"])
    #expect(
      try answer(SMPSettings.Read(name: "a/b"), "a1 6376616c 43010203").get().value == [1, 2, 3])
  }

  @Test("a refused offset contains the group's code")
  func refusedOffset() throws {
    let refused = try answer(
      SMPFiles.Upload(name: "/a", offset: 9, data: []),
      "a2 63657272 a2 6567726f7570 08 627263 0b 636c656e 05")
    guard case .failure(let refusal) = refused else {
      Issue.record("no refusal")
      return
    }
    #expect(refusal.isOffsetNotValid && refusal.inWords.code == "fs 11")
  }

  @Test("every code of the groups has a meaning and advice")
  func codes() {
    let codes: [(SMPGroup, ClosedRange<Int32>)] = [
      (.files, 1...17), (.settings, 1...7), (.statistics, 1...5),
    ]
    for (group, range) in codes {
      var meanings: Set<String> = []
      for code in range {
        let words = SMPRefusal(.group(group, code)).inWords
        #expect(words.meaning != "it refused with an unknown code" && words.advice.hasSuffix("."))
        meanings.insert(words.meaning)
      }
      #expect(meanings.count == range.count)
      #expect(
        SMPRefusal(.group(group, range.upperBound + 1)).inWords.meaning
          == "it refused with an unknown code")
    }
  }
}
