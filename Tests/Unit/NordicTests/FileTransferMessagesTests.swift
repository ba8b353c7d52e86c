import Testing

@testable import OtaflashUpdate

/// Tests of the requests and answers of the file transfer service. The bytes are those of
/// Adafruit's client (`adafruit_ble_file_transfer.py`) and of InfiniTime (`FSService.h`).
@Suite struct FileTransferMessagesTests {
  @Test(
    arguments: [
      (
        .read(path: "/a", offset: 0x10, count: 0x20),
        "10 00 02 00 10 00 00 00 20 00 00 00 2f 61"
      ),
      (
        .write(path: "/a", offset: 0x102, size: 0x30004),
        "20 00 02 00 02 01 00 00 00 00 00 00 00 00 00 00 04 00 03 00 2f 61"
      ),
      (.data(offset: 7, bytes: [0xAA, 0xBB]), "22 01 00 00 07 00 00 00 02 00 00 00 aa bb"),
      (.delete(path: "/a"), "30 00 02 00 2f 61"),
      (
        .makeDirectory(path: "/a"), "40 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 2f 61"
      ),
      (.move(from: "/a", to: "/bc"), "60 00 02 00 03 00 2f 61 00 2f 62 63"),
    ] as [(FileTransferRequest, String)])
  func requests(_ request: FileTransferRequest, _ text: String) {
    #expect(request.encoded == bytes(text))
  }

  @Test(
    arguments: [
      (
        "11 01 00 00 10 00 00 00 12 00 00 00 02 00 00 00 aa bb",
        .content(.success, offset: 16, total: 18, bytes: [0xAA, 0xBB])
      ),
      (
        "11 fe 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
        .content(.noEntry, offset: 0, total: 0, bytes: [])
      ),
      // A truncated notification, and a negative count of a failed read.
      (
        "11 01 00 00 00 00 00 00 12 00 00 00 12 00 00 00 aa",
        .content(.success, offset: 0, total: 18, bytes: [0xAA])
      ),
      (
        "11 01 00 00 00 00 00 00 12 00 00 00 ac ff ff ff",
        .content(.success, offset: 0, total: 18, bytes: [])
      ),
      (
        "21 01 00 00 07 00 00 00 01 02 03 04 05 06 07 08 00 10 00 00",
        .pacing(.success, offset: 7, free: 4096)
      ),
      ("31 01", .deleted(.success)),
      ("41 ef 00 00 00 00 00 00 00 00 00 00 00 00 00 00", .directoryMade(.exists)),
      ("61 e4", .moved(.noSpace)),
    ] as [(String, FileTransferAnswer)])
  func answers(_ text: String, _ answer: FileTransferAnswer) throws {
    #expect(try FileTransferAnswer(decoding: bytes(text)) == answer)
  }

  @Test func malformedAnswersAreRefused() {
    for text in ["", "11", "11 01 00 00 00 00", "21 01 00 00 07 00 00 00 01", "31"] {
      #expect(throws: FileTransferDecodeFault.truncated(bytes(text).count)) {
        try FileTransferAnswer(decoding: bytes(text))
      }
    }
    #expect(throws: FileTransferDecodeFault.unknownOpcode(0x51)) {
      try FileTransferAnswer(decoding: bytes("51 01 00 00"))
    }
  }

  /// Every status has a message; only LittleFS's and Adafruit's codes count as errors, because
  /// InfiniTime does not set the status of some answers.
  @Test func everyStatusHasAMessage() {
    for value in Int8.min...Int8.max {
      let status = FileTransferStatus(rawValue: value)
      let refusal = status.inWords(of: "/a")
      #expect(!refusal.meaning.isEmpty && refusal.code == "/a, status \(value)")
      #expect(!(status.isKnownError && status == .success))
    }
    let known = (Int8.min...Int8.max).filter { FileTransferStatus(rawValue: $0).isKnownError }
    #expect(known.count == 18)
  }

  private func bytes(_ text: String) -> [UInt8] {
    text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
  }
}
