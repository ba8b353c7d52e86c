import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

extension OTAPatch {
  /// The stream in the test vectors of the document.
  static let vector = OTAPatch(base: .vector, streamSize: 46, streamCRC32: 0xDF24_A08C)
}

extension OTABase {
  /// The running image of the device in the test vectors.
  static let vector = OTABase(size: 64, crc32: 0x100E_CE8C)
}

/// The bytes of docs/ota-service.md, section 11.1, read from the document itself.
@Suite struct OTAPatchMessagesTests {
  private static let section = "### 11.1"
  private static let otherPatch = OTAPatch(
    base: OTABase(size: 64, crc32: 0x100E_CE8D), streamSize: 46, streamCRC32: 0xDF24_A08C)
  private static let begin = OTARequest.begin(
    OTABegin(
      flags: .patch, imageSize: 67, imageCRC32: 0x74BA_F88F, version: FirmwareVersion(1, 3, 0),
      hardware: HardwareID(0xA001)))

  /// Every exchange over Control: the request and the result.
  static let exchanges: [(what: String, request: OTARequest, result: UInt8)] = [
    ("INFO of a device with patches", .info(hostVersion: 1), 0),
    ("PATCH INFO", .patchInfo, 0),
    ("PATCH POINT, nothing held", .patchPoint, 0),
    ("BEGIN of a patch without PATCH", begin, 3),
    ("PATCH for another base", .patch(otherPatch), 0x0F),
    ("PATCH", .patch(.vector), 0),
    ("BEGIN of a patch", begin, 0),
    ("PATCH POINT, 20 bytes held", .patchPoint, 0),
    ("RESUME POINT meanwhile", .resumePoint, 0),
    ("VERIFY of the image that the device created", .verify, 0),
  ]
  private static let data: [(what: String, bytes: Range<Int>)] = [
    ("Data, bytes 0 ..< 20 of the stream", 0..<20),
    ("Data, bytes 20 ..< 46 of the stream", 20..<46),
  ]

  @Test func everyPatchVectorOfTheDocumentIsTested() throws {
    let known = Set(Self.exchanges.map(\.what)).union(Self.data.map(\.what))
    #expect(Set(try ServiceDocument.rows(of: Self.section).map { $0[0] }) == known)
  }

  @Test(arguments: exchanges)
  func aPatchRequestHasItsAnswer(_ what: String, _ request: OTARequest, _ result: UInt8) throws {
    let bytes = try ServiceDocument.vector(what, in: Self.section)
    #expect(request.encoded == bytes[0])
    #expect(bytes[0].count <= 18 && bytes[1].count <= 20)
    let answer = try OTAAnswer(decoding: bytes[1])
    #expect(answer.opcode == request.opcode | 0x80)
    #expect(answer.result == result)
  }

  @Test func theStreamIsTheAnnouncedStream() throws {
    var stream: [UInt8] = []
    for (what, bytes) in Self.data {
      let value = try #require(try ServiceDocument.vector(what, in: Self.section).first)
      #expect(Array(value.prefix(4)) == [UInt8(bytes.lowerBound), 0, 0, 0])
      #expect(value.count == 4 + bytes.count)
      stream += value.dropFirst(4)
    }
    #expect(stream.count == OTAPatch.vector.streamSize)
    #expect(CRC32.checksum(stream) == OTAPatch.vector.streamCRC32)
    #expect(CRC32.checksum(Array(0..<64)) == OTABase.vector.crc32)
  }

  @Test func infoReportsPatchesAndPagesErasedAhead() throws {
    let info = try OTAInfo(decoding: payload("INFO of a device with patches"))
    #expect(info.takesPatches && info.erasesAhead && info.hasSink)
    #expect(!info.needsAuthorization && !info.isAuthorized)
  }

  @Test func patchInfoDescribesTheDecoder() throws {
    let info = try OTAPatchInfo(decoding: payload("PATCH INFO"))
    #expect(info.takesParts)
    #expect(info.takesMap)
    #expect(info.codecs == 0b1_0001_0101)
    #expect(info.windowBits == 10 && info.lookaheadBits == 10)
    #expect(info.pageSize == 1024)
    #expect(info.base == .vector)
    let other = try OTAPatchInfo(decoding: [9] + payload("PATCH INFO").dropFirst())
    #expect(!other.takesParts && !other.takesMap)
  }

  @Test func thePatchPointDescribesTheHeldData() throws {
    let nothing = try OTAPatchPoint(decoding: payload("PATCH POINT, nothing held"))
    #expect(nothing.streamSize == 0 && nothing.nextOffset == 0)
    let held = try OTAPatchPoint(decoding: payload("PATCH POINT, 20 bytes held"))
    #expect(held.streamSize == 46)
    #expect(held.streamCRC32 == OTAPatch.vector.streamCRC32)
    #expect(held.nextOffset == 20)
    #expect(held.imageOffset == 0)
  }

  @Test func aRefusalReportsTheBaseOfTheDevice() throws {
    #expect(try OTABase(decoding: payload("PATCH for another base")) == .vector)
  }

  @Test func aRefusedPatchEndsTheSession() throws {
    let bytes: [UInt8] = [0, 6] + [UInt8](repeating: 0, count: 14)
    let status = try OTAStatus(decoding: bytes)
    #expect(status.note == .patchRefused && status.state == .idle)
    #expect(status.encoded == bytes)
  }

  @Test func messagesMayBeLongerButNotShorter() {
    for size in 0...40 {
      let bytes = [UInt8](repeating: 0, count: size)
      expect(size >= 18, "PATCH INFO", size) { () throws(OTADecodeFault) in
        _ = try OTAPatchInfo(decoding: bytes)
      }
      expect(size >= 16, "PATCH POINT", size) { () throws(OTADecodeFault) in
        _ = try OTAPatchPoint(decoding: bytes)
      }
      expect(size >= 8, "PATCH", size) { () throws(OTADecodeFault) in
        _ = try OTABase(decoding: bytes)
      }
    }
  }

  private func expect(
    _ isDecoded: Bool, _ name: String, _ size: Int, _ decode: () throws(OTADecodeFault) -> Void
  ) {
    do throws(OTADecodeFault) {
      try decode()
      #expect(isDecoded, "\(name) of \(size) bytes")
    } catch {
      #expect(!isDecoded && error == .tooShort(name, bytes: size))
    }
  }

  private func payload(_ what: String) throws -> [UInt8] {
    try OTAAnswer(decoding: try ServiceDocument.vector(what, in: Self.section)[1]).payload
  }
}
