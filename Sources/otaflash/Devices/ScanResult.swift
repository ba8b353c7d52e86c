import OtaflashATT
import OtaflashBlueZ

/// A device as it was heard while scanning.
struct ScanResult: Equatable, Sendable {
  let address: BluetoothAddress
  var name: String?
  /// Received signal strength, in dBm.
  var rssi: Int?
  var services: [BluetoothUUID]

  init(_ device: DiscoveredDevice) {
    address = device.address
    name = device.name
    rssi = device.rssi.map { Int($0) }
    services = device.services
  }

  /// The first two have their widest value's width, so that lines written one by one stand below
  /// each other too.
  static let columns = ["ADDRESS          ", "RSSI    ", "NAME", "SERVICES"]

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
