import OtaflashATT

/// A device that advertises, with everything its advertisements have said so far.
public struct DiscoveredDevice: Equatable, Sendable {
  public let address: BluetoothAddress
  public internal(set) var name: String?
  /// In dBm, of the latest report that had one.
  public internal(set) var rssi: Int8?
  public internal(set) var services: [BluetoothUUID] = []

  /// Adds a report: a scan response carries the name that the advertisement left out.
  mutating func merge(_ report: DeviceReport) {
    name = report.advertising.name ?? name
    rssi = report.rssi ?? rssi
    services += report.advertising.services.filter { !services.contains($0) }
  }
}

/// A regular expression for device names, checked when it is made.
public struct NamePattern: Sendable, Equatable {
  public let text: String

  /// `nil` when the text is not a regular expression (Swift `Regex` syntax).
  public init?(_ text: String) {
    guard Self.compile(text) != nil else { return nil }
    self.text = text
  }

  /// A compiled expression cannot cross tasks, so each run compiles its own.
  var expression: Regex<AnyRegexOutput> {
    guard let expression = Self.compile(text) else { preconditionFailure("checked by init") }
    return expression
  }

  private static func compile(_ text: String) -> Regex<AnyRegexOutput>? {
    do { return try Regex(text) } catch { return nil }
  }
}

/// Which devices a discovery reports. Every condition that is set must hold.
public struct DiscoveryFilter: Sendable {
  /// Matches anywhere in the name; a device without a name never matches.
  public var name: NamePattern?
  /// The device must advertise all of them.
  public var services: [BluetoothUUID]
  /// In dBm; a device whose strength is unknown does not pass (kernel `is_filter_match`).
  public var rssiMinimum: Int8?
  /// Any further condition.
  public var condition: @Sendable (DiscoveredDevice) -> Bool

  public init(
    name: NamePattern? = nil, services: [BluetoothUUID] = [], rssiMinimum: Int8? = nil,
    condition: @escaping @Sendable (DiscoveredDevice) -> Bool = { _ in true }
  ) {
    self.name = name
    self.services = services
    self.rssiMinimum = rssiMinimum
    self.condition = condition
  }

  /// `expression` is the name's, compiled once for the run.
  func accepts(_ device: DiscoveredDevice, _ expression: Regex<AnyRegexOutput>?) -> Bool {
    if let expression, device.name?.contains(expression) != true { return false }
    if let rssiMinimum, device.rssi.map({ $0 < rssiMinimum }) ?? true { return false }
    return services.allSatisfy(device.services.contains) && condition(device)
  }
}
