import OtaflashATT
import OtaflashGATT
import OtaflashTestSupport
import Testing

func text(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
    .joined(separator: " ")
}

/// A session and its table, driven by raw PDUs.
struct Peer {
  var session: ServerSession
  var table: AttributeTable
  var effects: [ServerEffect] = []

  init(_ table: AttributeTable, security: AttributeSecurity = []) {
    self.table = table
    session = ServerSession(connection: ConnectionID(rawValue: 1), security: security)
  }

  /// Sends one PDU, in hexadecimal digits; returns the response, or `nil` without a response.
  mutating func send(_ pdu: String) -> String? { send(hex(pdu)) }

  mutating func send(_ pdu: [UInt8]) -> String? {
    effects = session.received(pdu, in: &table)
    let responses = effects.compactMap { effect -> String? in
      guard case .respond(let response) = effect else { return nil }
      #expect(response.encoded.count <= max(session.mtu.bytes, 23))
      return text(response.encoded)
    }
    #expect(responses.count <= 1)
    return responses.first
  }

  /// Runs pairs of request and response in order.
  mutating func run(
    _ script: [(request: String, response: String?)], at location: SourceLocation = #_sourceLocation
  ) {
    for step in script {
      let response = send(step.request)
      #expect(response == step.response, "after \(step.request)", sourceLocation: location)
    }
  }
}

let otaService: BluetoothUUID = "2f3e0001-21b4-4807-8bdc-74db56699529"
let otaBytes = "29 95 69 56 DB 74 DC 8B 07 48 B4 21 01 00 3E 2F"

/// The handles: 1…5 a service like Generic Access, 6…12 a vendor's service, 13…19 a secondary
/// service that includes both other services.
func exampleTable() -> AttributeTable {
  AttributeTable(services: [
    LocalService(
      .genericAccess,
      characteristics: [
        LocalCharacteristic(  // 2, 3
          BluetoothUUID(0x2A00), properties: [.read, .write],
          value: .stored(Array("Test Device".utf8), sizeMaximum: 40)),
        LocalCharacteristic(  // 4, 5
          BluetoothUUID(0x2A01), properties: .read, value: .fixed([0x40, 0x02])),
      ]),
    LocalService(
      otaService,
      characteristics: [
        LocalCharacteristic(  // 7, 8, CCCD 9
          BluetoothUUID(0xFF01), properties: [.read, .notify],
          value: .computed { context in .success([UInt8(context.mtu.bytes & 0xFF)]) }),
        LocalCharacteristic(  // 10, 11, CCCD 12
          BluetoothUUID(0xFF02), properties: [.write, .writeWithoutResponse, .indicate],
          value: .written { bytes, _ in bytes.first == 0xEE ? ATTErrorCode(0x80) : nil }),
      ]),
    LocalService(
      BluetoothUUID(0x180F), isPrimary: false, includes: [0, 1],
      characteristics: [
        LocalCharacteristic(  // 16, 17, extended 18, description 19
          BluetoothUUID(0x2A19), properties: [.read, .write],
          value: .stored([], sizeMaximum: 512), security: .encryption, extendedProperties: 1,
          userDescription: "Level")
      ]),
  ])
}
