import OtaflashATT
import Synchronization

/// A filter for the devices that a scan reports. A device must meet all conditions that are set.
///
/// ```swift
/// AdvertisementFilter(name: /^Strap/, services: [BluetoothUUID(0x180D)], rssiMinimum: -80)
/// ```
public struct AdvertisementFilter: Sendable {
  /// A condition on the name; a device without a name does not pass. `nil` accepts every device.
  public var name: (@Sendable (String) -> Bool)?
  /// The services, all of which a device must advertise.
  public var services: [BluetoothUUID]
  /// The minimum signal strength in dBm. A device of unknown strength does not pass if a minimum is
  /// set, as in the kernel (`is_filter_match`).
  public var rssiMinimum: Int?
  /// The ids of the devices that pass, compared case-insensitively; an empty set accepts every
  /// device.
  public var ids: Set<Advertisement.ID>

  /// Creates a filter with any condition on the name; without arguments the filter accepts every
  /// device.
  public init(
    services: [BluetoothUUID] = [], rssiMinimum: Int? = nil, ids: Set<Advertisement.ID> = [],
    name: (@Sendable (String) -> Bool)? = nil
  ) {
    self.name = name
    self.services = services
    self.rssiMinimum = rssiMinimum
    self.ids = ids
  }

  /// - Parameters:
  ///   - pattern: matches anywhere in the name: a literal, `try Regex(text)`, or a custom
  ///     expression with or without captures, whose ownership is transferred. If the expression is
  ///     also used elsewhere, pass a `NamePattern`.
  ///   - services: the services that a device must advertise, all of them; an empty list sets no
  ///     condition.
  ///   - rssiMinimum: the minimum signal strength in dBm; `nil` accepts every strength.
  ///   - ids: the only devices that pass; an empty set accepts every device.
  public init<Output>(
    name pattern: sending Regex<Output>, services: [BluetoothUUID] = [], rssiMinimum: Int? = nil,
    ids: Set<Advertisement.ID> = []
  ) {
    let expression = LockedExpression(Regex<AnyRegexOutput>(pattern))
    self.init(services: services, rssiMinimum: rssiMinimum, ids: ids) { expression.matches($0) }
  }

  /// - Parameters:
  ///   - pattern: matches anywhere in the name.
  ///   - services: the services that a device must advertise, all of them; an empty list sets no
  ///     condition.
  ///   - rssiMinimum: the minimum signal strength in dBm; `nil` accepts every strength.
  ///   - ids: the only devices that pass; an empty set accepts every device.
  public init(
    name pattern: NamePattern, services: [BluetoothUUID] = [], rssiMinimum: Int? = nil,
    ids: Set<Advertisement.ID> = []
  ) {
    self.init(name: pattern.expression, services: services, rssiMinimum: rssiMinimum, ids: ids)
  }

  /// Returns whether the device passes.
  public func accepts(_ advertisement: Advertisement) -> Bool {
    if let name, advertisement.name.map(name) != true { return false }
    if let rssiMinimum, advertisement.rssi.map({ $0 < rssiMinimum }) ?? true { return false }
    if !ids.isEmpty {
      let id = advertisement.id.uppercased()
      guard ids.contains(where: { $0.uppercased() == id }) else { return false }
    }
    return services.allSatisfy(advertisement.services.contains)
  }
}

/// A compiled expression that several tasks can use, although a `Regex` is not `Sendable`.
private final class LockedExpression: Sendable {
  private let expression: Mutex<Regex<AnyRegexOutput>>

  init(_ expression: sending Regex<AnyRegexOutput>) { self.expression = Mutex(expression) }

  func matches(_ name: String) -> Bool { expression.withLock { name.contains($0) } }
}

/// A regular expression for device names, checked at creation.
public struct NamePattern: Sendable, Equatable {
  /// The source text of the expression.
  public let text: String

  /// Creates a pattern; returns `nil` if the string is not a regular expression (Swift `Regex`
  /// syntax).
  public init?(_ text: String) {
    guard Self.compile(text) != nil else { return nil }
    self.text = text
  }

  /// The compiled expression. It is compiled at each access, because a `Regex` is not `Sendable`.
  package var expression: Regex<AnyRegexOutput> {
    guard let expression = Self.compile(text) else { preconditionFailure("checked by init") }
    return expression
  }

  private static func compile(_ text: String) -> Regex<AnyRegexOutput>? {
    do { return try Regex(text) } catch { return nil }
  }
}
