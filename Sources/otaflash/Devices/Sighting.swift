import OtaflashATT
import OtaflashBlueZ

/// A device as it was heard while scanning.
struct Sighting: Equatable, Sendable {
  let address: BluetoothAddress
  var name: String?
  /// Received signal strength, in dBm.
  var rssi: Int?
  var services: [BluetoothUUID]

  var row: [String] {
    [
      address.description, rssi.map { "\($0) dBm" } ?? "", name ?? "",
      services.map(\.description).joined(separator: " "),
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(address.description), "name": name.map { .string($0) }, "rssi": .integer(rssi),
      "services": .array(services.map { .string($0.description) }),
    ])
  }
}

/// Which devices a survey wants to hear of.
struct SurveyFilter: Equatable, Sendable {
  var namePattern: String?
  var service: BluetoothUUID?
  /// The weakest signal, in dBm.
  var rssiMinimum: Int?
  /// Devices without a name and without a known service too.
  var everything = false
  /// Every advertisement, not only the first of each device.
  var duplicates = false
}
