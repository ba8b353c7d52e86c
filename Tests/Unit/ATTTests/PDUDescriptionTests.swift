import OtaflashATT
import Testing

@Suite struct PDUDescriptionTests {
  static let lines: [([UInt8], String)] = [
    ([0x02, 0x00, 0x02], "ExchangeMTURequest 512"),
    ([0x03, 0xF7, 0x00], "ExchangeMTUResponse 247"),
    (
      [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28],
      "ReadByGroupTypeRequest 0x0001-0xFFFF 2800"
    ),
    ([0x12, 0x10, 0x00, 1, 2, 3], "WriteRequest 0x0010 3 bytes"),
    ([0x13], "WriteResponse"),
    ([0x52, 0x10, 0x00, 1], "WriteCommand 0x0010 1 byte"),
    ([0x1B, 0x0E, 0x00], "HandleValueNotification 0x000E 0 bytes"),
    ([0x1E], "HandleValueConfirmation"),
    ([0x01, 0x0A, 0x2A, 0x00, 0x02], "ErrorResponse 0x002A error 0x02 to ReadRequest"),
    ([0x01, 0x99, 0x00, 0x00, 0x06], "ErrorResponse 0x0000 error 0x06 to 0x99"),
    ([0x0C, 0x03, 0x00, 0x16, 0x00], "ReadBlobRequest 0x0003 from 22"),
    ([0x99], "unknown opcode 0x99"),
  ]

  @Test(arguments: lines)
  func aLineContainsThePDUItsAttributesAndItsSize(_ bytes: [UInt8], _ line: String) throws {
    #expect(try ATTPDU(decoding: bytes).description == line)
  }
}
