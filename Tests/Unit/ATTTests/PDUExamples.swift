import OtaflashATT
import OtaflashTestSupport
import Testing

/// One PDU, in the form of bytes and of a value.
struct PDUExample: CustomTestStringConvertible {
  let bytes: [UInt8]
  let pdu: ATTPDU

  init(_ bytes: String, _ pdu: ATTPDU) {
    self.bytes = hex(bytes)
    self.pdu = pdu
  }

  var testDescription: String { "\(pdu)" }
}

private let otaService: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
private let otaBytes = "29 95 69 56 DB 74 DC 8B 07 48 B4 21 01 00 3E 2F"

extension PDUExample {
  /// Every PDU of Core 5.4, Vol 3, Part F, 3.4, with minimal and with typical content.
  static let all: [PDUExample] = requests + responses + others

  static let requests: [PDUExample] = [
    .init("02 05 02", .request(.exchangeMTU(clientReceiveMTU: 517))),
    .init("04 01 00 FF FF", .request(.findInformation(.all))),
    .init(
      "06 01 00 FF FF 00 28 01 18",
      .request(.findByTypeValue(.all, type: 0x2800, value: [0x01, 0x18]))),
    .init("06 05 00 06 00 00 28", .request(.findByTypeValue(range(5, 6), type: 0x2800, value: []))),
    .init("08 01 00 FF FF 03 28", .request(.readByType(.all, type: BluetoothUUID(0x2803)))),
    .init("08 01 00 FF FF " + otaBytes, .request(.readByType(.all, type: otaService))),
    .init("0A 15 00", .request(.read(AttributeHandle(0x15)))),
    .init("0C 15 00 16 00", .request(.readBlob(AttributeHandle(0x15), offset: 22))),
    .init(
      "0E 03 00 06 00 0F 02",
      .request(
        .readMultiple([AttributeHandle(3), AttributeHandle(6), AttributeHandle(0x020F)]))),
    .init(
      "20 03 00 06 00",
      .request(.readMultipleVariable([AttributeHandle(3), AttributeHandle(6)]))),
    .init("10 01 00 FF FF 00 28", .request(.readByGroupType(.all, groupType: .init(0x2800)))),
    .init("12 07 00 01 02 03", .request(.write(AttributeHandle(7), value: [1, 2, 3]))),
    .init("12 07 00", .request(.write(AttributeHandle(7), value: []))),
    .init(
      "16 07 00 12 01 AA BB",
      .request(.prepareWrite(AttributeHandle(7), offset: 0x0112, part: [0xAA, 0xBB]))),
    .init("18 00", .request(.executeWrite(.cancel))),
    .init("18 01", .request(.executeWrite(.commit))),
  ]

  static let responses: [PDUExample] = [
    .init(
      "01 10 04 00 0A",
      .response(
        .error(
          ErrorResponse(
            requestOpcode: 0x10, handle: AttributeHandle(4), code: .attributeNotFound)))),
    .init("03 00 02", .response(.exchangeMTU(serverReceiveMTU: 512))),
    .init(
      "05 01 05 00 02 29 06 00 01 29",
      .response(
        .findInformation([
          AttributeInformation(handle: AttributeHandle(5), type: .init(0x2902)),
          AttributeInformation(handle: AttributeHandle(6), type: .init(0x2901)),
        ]))),
    .init(
      "05 02 05 00 " + otaBytes,
      .response(
        .findInformation([AttributeInformation(handle: AttributeHandle(5), type: otaService)]))),
    .init(
      "07 01 00 05 00 10 00 FF FF", .response(.findByTypeValue([range(1, 5), range(16, .max)]))),
    .init(
      "09 07 02 00 0A 03 00 00 2A",
      .response(
        .readByType([
          AttributeData(handle: AttributeHandle(2), value: [0x0A, 0x03, 0x00, 0x00, 0x2A])
        ]))),
    .init(
      "09 02 02 00 04 00",
      .response(
        .readByType([
          AttributeData(handle: AttributeHandle(2), value: []),
          AttributeData(handle: AttributeHandle(4), value: []),
        ]))),
    .init("0B", .response(.read(value: []))),
    .init("0B 54 65 73 74", .response(.read(value: [0x54, 0x65, 0x73, 0x74]))),
    .init("0D", .response(.readBlob(part: []))),
    .init("0D 01 02", .response(.readBlob(part: [1, 2]))),
    .init("0F 01 02 03 04", .response(.readMultiple(values: [1, 2, 3, 4]))),
    .init(
      "21 02 00 01 02 05 00 03",
      .response(
        .readMultipleVariable([
          LengthValue(length: 2, value: [1, 2]), LengthValue(length: 5, value: [3]),
        ]))),
    .init(
      "11 06 01 00 05 00 01 18 06 00 FF FF 0A 18",
      .response(
        .readByGroupType([
          AttributeGroupData(handles: range(1, 5), value: [0x01, 0x18]),
          AttributeGroupData(handles: range(6, .max), value: [0x0A, 0x18]),
        ]))),
    .init("13", .response(.write)),
    .init(
      "17 07 00 12 01 AA BB",
      .response(.prepareWrite(AttributeHandle(7), offset: 0x0112, part: [0xAA, 0xBB]))),
    .init("19", .response(.executeWrite)),
  ]

  static let others: [PDUExample] = [
    .init("52 07 00 01 02", .writeCommand(AttributeHandle(7), value: [1, 2])),
    .init("52 07 00", .writeCommand(AttributeHandle(7), value: [])),
    .init(
      "D2 07 00 01 02 10 11 12 13 14 15 16 17 18 19 1A 1B",
      .signedWriteCommand(
        AttributeHandle(7), value: [1, 2],
        signature: [0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B])),
    .init("1B 03 00 01", .notification(AttributeHandle(3), value: [1])),
    .init(
      "23 03 00 01 00 AA 06 00 00 00",
      .multipleNotification([
        HandleLengthValue(handle: AttributeHandle(3), value: [0xAA]),
        HandleLengthValue(handle: AttributeHandle(6), value: []),
      ])),
    .init("1D 03 00 81 00", .indication(AttributeHandle(3), value: [0x81, 0x00])),
    .init("1E", .confirmation),
    .init("14", .unknown(opcode: 0x14)),
    .init("7F", .unknown(opcode: 0x7F)),
  ]

  private static func range(_ first: UInt16, _ last: UInt16) -> HandleRange {
    HandleRange(AttributeHandle(first), AttributeHandle(last))
  }
}
