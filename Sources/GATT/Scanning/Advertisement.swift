import OtaflashATT

/// A device that advertises, as a scanner reports it (Core 5.4, Vol 3, Part C, 9.3 and 11).
public struct Advertisement: Hashable, Identifiable, Sendable {
  /// The scanner's own name for the device, by which it connects: an address such as
  /// `C0:FF:EE:00:00:01` or the name of a simulated device.
  public let id: String
  /// The local name; `nil` when none was advertised so far.
  public let name: String?
  /// The strength of the latest report in dBm, −127…20; `nil` when the adapter did not say.
  public let rssi: Int?
  /// The services that the device announces, which need not be all that it has.
  public let services: [BluetoothUUID]
  /// What the device's makers say in their own way, the latest of each company.
  public let manufacturerData: [ManufacturerData]
  /// What its services say, the latest of each.
  public let serviceData: [ServiceData]
  /// The power at which the device sends, in dBm (Core Specification Supplement, Part A, 1.5); less
  /// the strength it is the loss on the way.
  public let txPower: Int?
  /// What the device looks like, an assigned number (1.12): 0x0341 is a heart rate belt.
  public let appearance: UInt16?
  /// Whether the device takes connections now; `nil` when the adapter did not say.
  public let isConnectable: Bool?
  /// The byte of flags (Core Specification Supplement, Part A, 1.3): bit 0 limited, bit 1 general
  /// discoverable, bit 2 no BR/EDR; `nil` when none was advertised so far.
  public let flags: UInt8?

  /// What a scanner of your own has heard.
  public init(
    id: String, name: String?, rssi: Int?, services: [BluetoothUUID],
    manufacturerData: [ManufacturerData] = [], serviceData: [ServiceData] = [],
    txPower: Int? = nil, appearance: UInt16? = nil, isConnectable: Bool? = nil,
    flags: UInt8? = nil
  ) {
    self.id = id
    self.name = name
    self.rssi = rssi
    self.services = services
    self.manufacturerData = manufacturerData
    self.serviceData = serviceData
    self.txPower = txPower
    self.appearance = appearance
    self.isConnectable = isConnectable
    self.flags = flags
  }

  /// The nearest first, as far as strength tells; devices of unknown strength last.
  static func isStronger(_ one: Advertisement, than other: Advertisement) -> Bool {
    let strengths = (one.rssi ?? .min, other.rssi ?? .min)
    return strengths.0 == strengths.1 ? one.id < other.id : strengths.0 > strengths.1
  }
}

/// Manufacturer Specific Data (Core Specification Supplement, Part A, 1.4).
public struct ManufacturerData: Hashable, Sendable {
  /// The company's assigned number.
  public let company: UInt16
  /// What the company defines, 0 or more bytes.
  public let data: [UInt8]

  /// Data of a company.
  public init(company: UInt16, data: [UInt8]) {
    self.company = company
    self.data = data
  }
}

/// Service Data (Core Specification Supplement, Part A, 1.11).
public struct ServiceData: Hashable, Sendable {
  /// Whose data it is.
  public let service: BluetoothUUID
  /// What the service defines, 0 or more bytes.
  public let data: [UInt8]

  /// Data of a service.
  public init(service: BluetoothUUID, data: [UInt8]) {
    self.service = service
    self.data = data
  }
}
