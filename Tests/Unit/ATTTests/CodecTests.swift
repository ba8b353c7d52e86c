import OtaflashATT
import OtaflashTestSupport
import Testing

@Suite struct CodecTests {
  @Test(arguments: PDUExample.all)
  func decodes(_ example: PDUExample) throws {
    #expect(try ATTPDU(decoding: example.bytes) == example.pdu)
  }

  @Test(arguments: PDUExample.all)
  func encodes(_ example: PDUExample) {
    #expect(example.pdu.encoded == example.bytes)
  }

  @Test func everyOpcodeHasAnExample() {
    let shown = Set(PDUExample.all.compactMap { ATTOpcode(rawValue: $0.bytes[0]) })
    #expect(shown == Set(ATTOpcode.allCases))
  }

  /// A truncated PDU must either be a fault, or decode as a shorter PDU that encodes to the same
  /// bytes.
  @Test(arguments: PDUExample.all)
  func truncations(_ example: PDUExample) {
    for count in 0..<example.bytes.count {
      let cut = Array(example.bytes.prefix(count))
      do throws(DecodeFault) {
        let pdu = try ATTPDU(decoding: cut)
        #expect(pdu.encoded == cut || isTruncatedLength(pdu))
      } catch {
        #expect(error.opcode == cut.first)
      }
    }
  }

  /// A Read Multiple Variable Response may end within a length field, which is skipped.
  private func isTruncatedLength(_ pdu: ATTPDU) -> Bool {
    if case .response(.readMultipleVariable) = pdu { return true }
    return false
  }

  @Test(
    arguments: [
      ("02 05", .tooShort(bytes: 2)), ("02 05 02 00", .tooLong(bytes: 4)),
      ("04 01 00 FF", .tooShort(bytes: 4)), ("08 01 00 FF FF", .uuidLength(0)),
      ("08 01 00 FF FF 03 28 00", .uuidLength(3)), ("10 01 00 FF FF 00 28 00 00", .uuidLength(4)),
      ("0A 15 00 00", .tooLong(bytes: 4)), ("0E 03 00", .partialList(bytes: 3)),
      ("0E 03 00 06 00 07", .partialList(bytes: 6)), ("20 03 00", .partialList(bytes: 3)),
      ("18 02", .unknownFlags(2)), ("18", .tooShort(bytes: 1)),
      ("16 07 00 12", .tooShort(bytes: 4)),
      ("01 10 04 00", .tooShort(bytes: 4)), ("05 03 05 00 02 29", .unknownFormat(3)),
      ("05 01", .partialList(bytes: 2)), ("05 02 05 00 02 29", .partialList(bytes: 6)),
      ("07 01 00 05", .partialList(bytes: 4)), ("07", .partialList(bytes: 1)),
      ("09 00 01 00", .entryLength(0)), ("09 01 01", .entryLength(1)),
      ("09 03 01 00", .partialList(bytes: 4)), ("11 03 01 00 02", .entryLength(3)),
      ("11 06 01 00 05 00 01", .partialList(bytes: 7)), ("13 00", .tooLong(bytes: 2)),
      ("19 00", .tooLong(bytes: 2)), ("1E 00", .tooLong(bytes: 2)),
      ("21 02", .tooShort(bytes: 2)),
      ("23 03 00 01 00 AA", .tooShort(bytes: 6)),
      ("23 03 00 01 00 AA 06 00 09 00", .tooShort(bytes: 10)),
      ("52 07", .tooShort(bytes: 2)), ("1B 07", .tooShort(bytes: 2)),
      ("1D", .tooShort(bytes: 1)),
      ("D2 07 00 01 02 03 04 05 06 07 08 09 0A 0B", .tooShort(bytes: 14)),
    ] as [(String, DecodeFault.Reason)])
  func refuses(_ bytes: String, _ reason: DecodeFault.Reason) {
    let pdu = hex(bytes)
    #expect(throws: DecodeFault(opcode: pdu[0], reason: reason)) { try ATTPDU(decoding: pdu) }
  }

  @Test func refusesAnEmptyPDU() {
    #expect(throws: DecodeFault(opcode: nil, reason: .empty)) { try ATTPDU(decoding: []) }
  }

  /// A server must refuse these PDUs with the error Invalid Handle (0x01), so they must decode
  /// (3.4.3.1 and 3.4.4.3).
  @Test(arguments: ["04 05 00 04 00", "04 00 00 FF FF", "0A 00 00"])
  func keepsValuesThatTheServerChecks(_ bytes: String) throws {
    #expect(try ATTPDU(decoding: hex(bytes)).encoded == hex(bytes))
  }

  @Test func aTruncatedLengthIsSkipped() throws {
    let pdu = try ATTPDU(decoding: hex("21 01 00 AA 05"))
    #expect(pdu == .response(.readMultipleVariable([LengthValue(length: 1, value: [0xAA])])))
  }

  @Test func longFormOfAShortUUIDIsTheSameType() throws {
    let long = hex("08 01 00 FF FF FB 34 9B 5F 80 00 00 80 00 10 00 00 03 28 00 00")
    #expect(
      try ATTPDU(decoding: long)
        == .request(.readByType(.all, type: BluetoothUUID(0x2803))))
  }

  /// Any bytes are either decoded or rejected, and a decoded PDU survives a round trip.
  @Test func randomBytesNeverTrap() throws {
    var generator = SplitMix64(seed: 0x07A)
    let opcodes = ATTOpcode.allCases.map(\.rawValue)
    for _ in 0..<100_000 {
      var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...(.random(using: &generator) ? 7 : 255), using: &generator)
      }
      if !bytes.isEmpty, .random(using: &generator),
        let opcode = opcodes.randomElement(using: &generator)
      {
        bytes[0] = opcode
      }
      do throws(DecodeFault) {
        let pdu = try ATTPDU(decoding: bytes)
        // A response with UUIDs of different lengths cannot be encoded. The decoder shortens UUIDs
        // that have a short form.
        if !isMixedInformation(pdu) { #expect(try ATTPDU(decoding: pdu.encoded) == pdu) }
      } catch {
        #expect(error.opcode == bytes.first)
      }
    }
  }

  private func isMixedInformation(_ pdu: ATTPDU) -> Bool {
    guard case .response(.findInformation(let entries)) = pdu else { return false }
    return Set(entries.map(\.type.littleEndian.count)).count > 1
  }
}

@Suite struct OpcodeTests {
  @Test func everyRequestHasOneResponse() {
    let requests: [ATTRequest] = PDUExample.requests.map {
      guard case .request(let request) = $0.pdu else { preconditionFailure("not a request") }
      return request
    }
    let responses: [ATTResponse] = PDUExample.responses.dropFirst().map {
      guard case .response(let response) = $0.pdu else { preconditionFailure("not a response") }
      return response
    }
    for request in requests {
      let answering = Set(responses.filter { $0.answers(request.opcode) }.map(\.opcode))
      #expect(answering.count == 1)
    }
  }

  @Test func anErrorAnswersOnlyItsRequest() {
    let error = ATTResponse.error(
      ErrorResponse(requestOpcode: 0x0A, handle: .first, code: .readNotPermitted))
    #expect(error.answers(.readRequest))
    #expect(!error.answers(.readBlobRequest))
  }

  @Test func commandBit() {
    #expect(ATTOpcode.isCommand(0x52))
    #expect(ATTOpcode.isCommand(0xD2))
    #expect(!ATTOpcode.isCommand(0x12))
  }
}

@Suite struct WriteEncodingTests {
  private let image = (0..<600).map { UInt8(truncatingIfNeeded: $0) }

  @Test(arguments: [nil, 0, 0x0102_0304, .max] as [UInt32?], [0..<0, 7..<8, 100..<595])
  func equalsTheGeneralEncoder(_ prefix: UInt32?, _ range: Range<Int>) {
    let value = prefix.map { prefix in (0..<4).map { UInt8(prefix >> (8 * $0) & 0xFF) } } ?? []
    let handle = AttributeHandle(0x1234)
    #expect(
      ATTPDU.encodeWriteCommand(handle, prefix: prefix, bytes: image[range])
        == ATTPDU.writeCommand(handle, value: value + image[range]).encoded)
    // The previous content of the buffer has no effect.
    for former in [[], [1, 2, 3], [UInt8](repeating: 9, count: 700)] as [[UInt8]] {
      var pdu = former
      ATTPDU.encodeWriteCommand(handle, prefix: prefix, bytes: image[range], into: &pdu)
      #expect(pdu == ATTPDU.writeCommand(handle, value: value + image[range]).encoded)
    }
    #expect(
      ATTPDU.encodeWriteRequest(handle, prefix: prefix, bytes: image[range])
        == ATTRequest.write(handle, value: value + image[range]).encoded)
  }
}
