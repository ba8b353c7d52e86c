import OtaflashATT
import OtaflashGATT

/// An advertising device, with the merged content of its advertisements.
package struct DiscoveredDevice: Equatable, Sendable {
  package let address: BluetoothAddress
  package internal(set) var name: String?
  /// The signal strength in dBm, from the latest report that contains one.
  package internal(set) var rssi: Int8?
  package internal(set) var services: [BluetoothUUID] = []
  /// The latest data of each company.
  package internal(set) var manufacturerData: [ManufacturerData] = []
  /// The latest data of each service.
  package internal(set) var serviceData: [ServiceData] = []
  /// The transmit power in dBm.
  package internal(set) var txPower: Int8?
  package internal(set) var appearance: UInt16?
  /// Whether the device accepts connections, from the latest advertisement; `nil` if the kernel has
  /// not reported this.
  package internal(set) var isConnectable: Bool?
  package internal(set) var flags: UInt8?

  init(address: BluetoothAddress) { self.address = address }

  /// Adds a report. The name may be in the scan response instead of the advertisement.
  mutating func merge(_ report: AdvertisingReport) {
    name = report.advertising.name ?? name
    rssi = report.rssi ?? rssi
    services += report.advertising.services.filter { !services.contains($0) }
    for data in report.advertising.manufacturerData {
      manufacturerData.removeAll { $0.company == data.company }
      manufacturerData.append(data)
    }
    for data in report.advertising.serviceData {
      serviceData.removeAll { $0.service == data.service }
      serviceData.append(data)
    }
    txPower = report.advertising.txPower ?? txPower
    appearance = report.advertising.appearance ?? appearance
    isConnectable = report.isConnectable ?? isConnectable
    flags = report.advertising.flags ?? flags
  }
}

/// A filter for the devices that a discovery reports. A device must meet all conditions that are
/// set.
package struct DiscoveryFilter: Sendable {
  /// The condition on the name, which may match anywhere in the name; a device without a name never
  /// passes.
  package var name: NamePattern?
  /// The services; the device must advertise all of them.
  package var services: [BluetoothUUID]
  /// The minimum signal strength in dBm; a device of unknown strength does not pass (kernel
  /// `is_filter_match`).
  package var rssiMinimum: Int8?
  /// Any further condition.
  package var condition: @Sendable (DiscoveredDevice) -> Bool

  package init(
    name: NamePattern? = nil, services: [BluetoothUUID] = [], rssiMinimum: Int8? = nil,
    condition: @escaping @Sendable (DiscoveredDevice) -> Bool = { _ in true }
  ) {
    self.name = name
    self.services = services
    self.rssiMinimum = rssiMinimum
    self.condition = condition
  }

  /// Returns whether the device passes.
  ///
  /// - Parameter expression: the expression for the name, compiled once per discovery.
  func accepts(_ device: DiscoveredDevice, _ expression: Regex<AnyRegexOutput>?) -> Bool {
    if let expression, device.name?.contains(expression) != true { return false }
    if let rssiMinimum, device.rssi.map({ $0 < rssiMinimum }) ?? true { return false }
    return services.allSatisfy(device.services.contains) && condition(device)
  }
}
