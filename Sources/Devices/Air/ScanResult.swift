import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashGATT
import OtaflashUpdate

/// A device discovered by a scan.
package struct ScanResult: Equatable, Sendable {
  /// The value of `-d` for the device: an address or, in a simulation, `sim:PROFILE`.
  package let id: String
  /// The Bluetooth address; `nil` for a device without an address.
  package let address: BluetoothAddress?
  package var name: String?
  /// The received signal strength in dBm; `nil` if unknown.
  package var rssi: Int?
  package var services: [BluetoothUUID]

  package init(_ device: DiscoveredDevice) {
    id = device.address.description
    address = device.address
    name = device.name
    rssi = device.rssi.map { Int($0) }
    services = device.services
  }

  /// Creates the result for a simulated device.
  package init(simulated id: String, name: String?, rssi: Int?, services: [BluetoothUUID]) {
    self.id = id
    address = nil
    self.name = name
    self.rssi = rssi
    self.services = services
  }

  /// The headings of the columns. The first two headings have the width of their widest value, so
  /// that lines written one by one are aligned.
  package static let columns = ["ADDRESS          ", "RSSI    ", "NAME", "SERVICES"]

  package var row: [String] {
    [id, rssi.map { "\($0) dBm" } ?? "", name ?? "", serviceNames.joined(separator: " ")]
  }

  /// The names of the update protocols that the device advertises, and its other services.
  private var serviceNames: [String] {
    let offered = UpdateProtocol.all.filter { $0.services.contains(where: services.contains) }
    let known = offered.flatMap { $0.services }
    return offered.map { $0.updateProtocol.name }
      + services.filter { !known.contains($0) }.map(\.description)
  }

  package var members: [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "name": name.map { .string($0) }, "rssi": .integer(rssi),
      "services": .array(services.map { .string($0.description) }),
    ])
  }
}

/// The conditions that select the devices of a scan. A device must meet every condition that is
/// set.
package struct ScanFilter: Sendable {
  /// A pattern that matches any part of the name.
  package var name: NamePattern?
  package var service: BluetoothUUID?
  /// The minimum signal strength in dBm. A device of unknown strength is excluded.
  package var rssiMinimum: Int8?
  package var takesNameless = true

  package init(
    name: NamePattern? = nil, service: BluetoothUUID? = nil, rssiMinimum: Int8? = nil,
    takesNameless: Bool = true
  ) {
    self.name = name
    self.service = service
    self.rssiMinimum = rssiMinimum
    self.takesNameless = takesNameless
  }

  /// The filter for the kernel's discovery.
  package var discovery: DiscoveryFilter {
    let takesNameless = takesNameless
    return DiscoveryFilter(
      name: name, services: service.map { [$0] } ?? [], rssiMinimum: rssiMinimum
    ) { takesNameless || $0.name != nil }
  }

  package func accepts(_ device: ScanResult) -> Bool {
    if let name, device.name?.contains(name.expression) != true { return false }
    if let service, !device.services.contains(service) { return false }
    if let rssiMinimum, device.rssi.map({ $0 < Int(rssiMinimum) }) ?? true { return false }
    return takesNameless || device.name != nil
  }
}
