import OtaflashATT

/// A device that advertises, as a scanner reports it (Core 5.4, Vol 3, Part C, 9.3 and 11).
public struct Advertisement: Hashable, Identifiable, Sendable {
  /// The scanner's identifier of the device, which is also used to connect: an address such as
  /// `C0:FF:EE:00:00:01`, or the name of a simulated device.
  public let id: String
  /// The local name; `nil` if no name has been advertised.
  public let name: String?
  /// The signal strength of the latest report in dBm, −127…20; `nil` if the adapter did not report
  /// the strength.
  public let rssi: Int?
  /// The advertised services; a device need not advertise all services that it has.
  public let services: [BluetoothUUID]
  /// The latest manufacturer-specific data of each company.
  public let manufacturerData: [ManufacturerData]
  /// The latest data of each service.
  public let serviceData: [ServiceData]
  /// The transmit power of the device in dBm (Core Specification Supplement, Part A, 1.5); the
  /// transmit power minus the signal strength is the path loss. `nil` if the device did not
  /// advertise the power.
  public let txPower: Int?
  /// The appearance, an assigned number (1.12), such as 0x0341 for a heart rate belt; `nil` if no
  /// appearance has been advertised.
  public let appearance: UInt16?
  /// Whether the device accepts connections now; `nil` if the adapter did not report this.
  public let isConnectable: Bool?
  /// The byte of flags (Core Specification Supplement, Part A, 1.3): bit 0 limited, bit 1 general
  /// discoverable, bit 2 no BR/EDR; `nil` if no flags have been advertised.
  public let flags: UInt8?

  /// Creates an advertisement for a custom scanner.
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

  /// Returns whether `one` is before `other` in the order of signal strength, the strongest first;
  /// devices of unknown strength are last.
  static func isStronger(_ one: Advertisement, than other: Advertisement) -> Bool {
    let strengths = (one.rssi ?? .min, other.rssi ?? .min)
    return strengths.0 == strengths.1 ? one.id < other.id : strengths.0 > strengths.1
  }
}

/// Manufacturer Specific Data (Core Specification Supplement, Part A, 1.4).
public struct ManufacturerData: Hashable, Sendable {
  /// The company's assigned number.
  public let company: UInt16
  /// The data in the company's format, 0 or more bytes.
  public let data: [UInt8]

  /// Creates the data of a company.
  public init(company: UInt16, data: [UInt8]) {
    self.company = company
    self.data = data
  }
}

/// Service Data (Core Specification Supplement, Part A, 1.11).
public struct ServiceData: Hashable, Sendable {
  /// The service that the data belongs to.
  public let service: BluetoothUUID
  /// The data in the service's format, 0 or more bytes.
  public let data: [UInt8]

  /// Creates the data of a service.
  public init(service: BluetoothUUID, data: [UInt8]) {
    self.service = service
    self.data = data
  }
}
