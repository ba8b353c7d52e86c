import OtaflashATT
import OtaflashGATT

/// A server answers each PDU at most once, within the ATT_MTU, for any input of a client.
func fuzzGATTServer(_ input: [UInt8]) {
  var table = AttributeTable(services: [
    LocalService(
      .genericAccess,
      characteristics: [
        LocalCharacteristic(
          BluetoothUUID(0x2A00), properties: .read, value: .fixed([UInt8](repeating: 65, count: 60))
        )
      ]),
    LocalService(
      "2f3e0001-21b4-4807-8bdc-74db56699529",
      characteristics: [
        LocalCharacteristic(
          "2f3e0002-21b4-4807-8bdc-74db56699529", properties: [.write, .indicate],
          value: .written { value, _ in value.isEmpty ? .invalidPDU : nil }),
        LocalCharacteristic(
          "2f3e0004-21b4-4807-8bdc-74db56699529", properties: [.read, .notify],
          value: .computed { _ in .success([UInt8](repeating: 7, count: 40)) }),
      ]),
  ])
  var session = ServerSession(connection: ConnectionID(rawValue: 1))
  for pdu in messages(input) {
    let mtu = session.mtu.bytes
    let responses = session.received(pdu, in: &table).compactMap { effect -> ATTResponse? in
      if case .respond(let response) = effect { response } else { nil }
    }
    precondition(responses.count <= 1, "\(responses.count) responses to \(pdu)")
    for response in responses {
      precondition(response.encoded.count <= max(mtu, 23), "longer than the MTU: \(response)")
    }
  }
}
