import OtaflashFirmware
import Testing

@Suite("Intel HEX records")
struct IntelHexRecordTests {
  /// The examples in common descriptions of the format, at least one of each type.
  static let examples: [(String, IntelHexRecord)] = [
    (
      ":0B0010006164647265737320676170A7",
      .data(loadOffset: 0x0010, Array("address gap".utf8))
    ),
    (":0300300002337A1E", .data(loadOffset: 0x0030, [0x02, 0x33, 0x7A])),
    (
      ":10010000214601360121470136007EFE09D2190140",
      .data(
        loadOffset: 0x0100,
        [
          0x21, 0x46, 0x01, 0x36, 0x01, 0x21, 0x47, 0x01, 0x36, 0x00, 0x7E, 0xFE, 0x09, 0xD2, 0x19,
          0x01,
        ])
    ),
    (":00000001FF", .endOfFile),
    (":020000021200EA", .extendedSegmentAddress(base: 0x1200)),
    (":0400000300003800C1", .startSegmentAddress(cs: 0, ip: 0x3800)),
    (":02000004FFFFFC", .extendedLinearAddress(upper: 0xFFFF)),
    (":020000040800F2", .extendedLinearAddress(upper: 0x0800)),
    (":04000005000000CD2A", .startLinearAddress(0xCD)),
  ]

  @Test("decodes and encodes each type of record", arguments: examples)
  func codec(line: String, record: IntelHexRecord) throws {
    #expect(try IntelHexRecord(decoding: line.utf8) == record)
    #expect(try IntelHexRecord(decoding: line.lowercased().utf8) == record)
    #expect(record.encoded == line)
  }

  @Test(
    "reports the error in a line",
    arguments: [
      ("", .noRecordMark(found: nil)),
      ("00000001FF", .noRecordMark(found: 0x30)),
      (":0000000GFF", .notHexadecimal(UInt8(ascii: "G"), column: 9)),
      (": 00000001FF", .notHexadecimal(0x20, column: 2)),
      (":00000001F", .halfByte(digits: 9)),
      (":", .tooShort(bytes: 0)),
      (":000000FF", .tooShort(bytes: 4)),
      (":0300300002331E", .wrongLength(stated: 3, found: 2)),
      (":0300300002337A7A1E", .wrongLength(stated: 3, found: 4)),
      (":0300300002337A1F", .wrongChecksum(stated: 0x1F, computed: 0x1E)),
      (":0300300003337A1E", .wrongChecksum(stated: 0x1E, computed: 0x1D)),
      (":00000006FA", .unknownType(6)),
      (":0100000100FE", .wrongLengthForType(1, expected: 0, found: 1)),
      (":0100000200FD", .wrongLengthForType(2, expected: 2, found: 1)),
      (":020000030000FB", .wrongLengthForType(3, expected: 4, found: 2)),
      (":0400000400000000F8", .wrongLengthForType(4, expected: 2, found: 4)),
      (":00000005FB", .wrongLengthForType(5, expected: 4, found: 0)),
    ] as [(String, IntelHexFault)])
  func faults(line: String, fault: IntelHexFault) {
    #expect(throws: fault) { try IntelHexRecord(decoding: line.utf8) }
  }

  @Test("every record of 0 to 255 bytes is encoded and decoded")
  func roundTrip() throws {
    for count in 0...255 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
      let record = IntelHexRecord.data(loadOffset: UInt16(count) << 8 | 0x5A, bytes)
      #expect(try IntelHexRecord(decoding: record.encoded.utf8) == record)
    }
  }
}
