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

  public init(id: String, name: String?, rssi: Int?, services: [BluetoothUUID]) {
    self.id = id
    self.name = name
    self.rssi = rssi
    self.services = services
  }
}

/// Which devices a scan reports. Every condition that is set must hold.
///
/// ```swift
/// AdvertisementFilter(name: /^Strap/, services: [BluetoothUUID(0x180D)], rssiMinimum: -80)
/// ```
public struct AdvertisementFilter: Sendable {
  /// Judges the name; a device without one does not pass. `nil` takes every device.
  public var name: (@Sendable (String) -> Bool)?
  /// The device must announce all of them.
  public var services: [BluetoothUUID]
  /// In dBm; a device whose strength is unknown passes.
  public var rssiMinimum: Int?

  public init(
    services: [BluetoothUUID] = [], rssiMinimum: Int? = nil,
    name: (@Sendable (String) -> Bool)? = nil
  ) {
    self.name = name
    self.services = services
    self.rssiMinimum = rssiMinimum
  }

  /// - Parameter name: matches anywhere in the name. A regular expression cannot cross tasks, so
  ///   the one given here is made anew for each name: give a literal, without captures.
  public init(
    name pattern: @autoclosure @escaping @Sendable () -> Regex<Substring>,
    services: [BluetoothUUID] = [], rssiMinimum: Int? = nil
  ) {
    self.init(services: services, rssiMinimum: rssiMinimum) { $0.contains(pattern()) }
  }

  public func accepts(_ advertisement: Advertisement) -> Bool {
    if let name, advertisement.name.map(name) != true { return false }
    if let rssiMinimum, let rssi = advertisement.rssi, rssi < rssiMinimum { return false }
    return services.allSatisfy(advertisement.services.contains)
  }
}
