import OtaflashATT
import Synchronization

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
  /// In dBm; a device whose strength is unknown does not pass where one is asked for, as the kernel
  /// has it (`is_filter_match`).
  public var rssiMinimum: Int?
  /// The device must be one of these, in either case of letters; none takes every device.
  public var ids: Set<Advertisement.ID>

  /// A filter by any condition on the name; without arguments, one that takes every device.
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
  ///   - pattern: matches anywhere in the name: a literal, `try Regex(text)`, or one of your own,
  ///     with or without captures, which is handed over. For one that is used elsewhere, too, take
  ///     a `NamePattern`.
  ///   - services: all of them are advertised; none asks for none.
  ///   - rssiMinimum: in dBm; `nil` takes every strength.
  ///   - ids: the only devices that pass; an empty set lets all pass.
  public init<Output>(
    name pattern: sending Regex<Output>, services: [BluetoothUUID] = [], rssiMinimum: Int? = nil,
    ids: Set<Advertisement.ID> = []
  ) {
    let expression = LockedExpression(Regex<AnyRegexOutput>(pattern))
    self.init(services: services, rssiMinimum: rssiMinimum, ids: ids) { expression.matches($0) }
  }

  /// - Parameters:
  ///   - pattern: matches anywhere in the name.
  ///   - services: all of them are advertised; none asks for none.
  ///   - rssiMinimum: in dBm; `nil` takes every strength.
  ///   - ids: the only devices that pass; an empty set lets all pass.
  public init(
    name pattern: NamePattern, services: [BluetoothUUID] = [], rssiMinimum: Int? = nil,
    ids: Set<Advertisement.ID> = []
  ) {
    self.init(name: pattern.expression, services: services, rssiMinimum: rssiMinimum, ids: ids)
  }

  /// Whether the device passes.
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

/// A compiled expression cannot cross tasks by itself.
private final class LockedExpression: Sendable {
  private let expression: Mutex<Regex<AnyRegexOutput>>

  init(_ expression: sending Regex<AnyRegexOutput>) { self.expression = Mutex(expression) }

  func matches(_ name: String) -> Bool { expression.withLock { name.contains($0) } }
}

/// A regular expression for device names, checked when it is made.
public struct NamePattern: Sendable, Equatable {
  /// The expression as it was written.
  public let text: String

  /// `nil` when the text is not a regular expression (Swift `Regex` syntax).
  public init?(_ text: String) {
    guard Self.compile(text) != nil else { return nil }
    self.text = text
  }

  /// A compiled expression cannot cross tasks, so each run compiles its own.
  package var expression: Regex<AnyRegexOutput> {
    guard let expression = Self.compile(text) else { preconditionFailure("checked by init") }
    return expression
  }

  private static func compile(_ text: String) -> Regex<AnyRegexOutput>? {
    do { return try Regex(text) } catch { return nil }
  }
}
