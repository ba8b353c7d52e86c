/// A user's own name for a device, such as `door-01`.
package struct DeviceAlias: Hashable, Sendable, CustomStringConvertible {
  /// The reason why a string is not a valid alias.
  package enum Fault: Error, Equatable, Sendable {
    /// The string is empty or exceeds the maximum length in characters.
    case length(maximum: Int)
    /// The first character is not a letter or a digit.
    case beginning
    /// The string contains a character other than letters, digits, `-`, `_` and `.`.
    case character(Character)
    /// The string has another meaning as a DEVICE argument.
    case reserved
  }

  /// The maximum length in characters.
  package static let lengthMaximum = 64

  /// Words that are DEVICE arguments, or with which a DEVICE argument could start.
  private static let reserved: Set<String> = [
    "all", "any", "auto", "last", "name", "none", "sim", "sim-fleet", "unix",
  ]

  /// The alias, which is case-sensitive.
  package let description: String

  /// Creates an alias. An alias has no colon, so that it is never an address or another form of
  /// DEVICE.
  ///
  /// - Throws: the reason why `text` is invalid.
  package init(_ text: String) throws(Fault) {
    guard (1...Self.lengthMaximum).contains(text.count) else {
      throw .length(maximum: Self.lengthMaximum)
    }
    guard let first = text.first, first.isLetter || first.isNumber else { throw .beginning }
    let foreign = text.first { !$0.isLetter && !$0.isNumber && !"-_.".contains($0) }
    if let foreign { throw .character(foreign) }
    guard !Self.reserved.contains(text.lowercased()) else { throw .reserved }
    description = text
  }
}

extension DeviceAlias.Fault: CustomStringConvertible {
  /// The reason, as a clause without a period, such as `the word is reserved`.
  package var description: String {
    switch self {
    case .length(let maximum): "it must have 1 to \(maximum) characters"
    case .beginning: "it must start with a letter or a digit"
    case .character(let character):
      "it contains '\(character)'; only letters, digits, '-', '_' and '.' are permitted"
    case .reserved: "the word is reserved"
    }
  }
}

/// The aliases of a user: one device for each alias, and at most one alias for each device.
package struct DeviceAliases: Equatable, Sendable {
  /// The reason why an alias was not assigned.
  package enum Fault: Error, Equatable, Sendable {
    /// Another device has the alias.
    case taken(by: String)
    /// The maximum number of aliases is reached.
    case full(maximum: Int)
  }

  /// The maximum number of aliases.
  package static let capacity = 10_000

  /// The device id of each alias, as in `DeviceRecord`.
  private var devices: [DeviceAlias: String] = [:]

  /// Creates an empty list.
  package init() {}

  /// All aliases, sorted by name.
  package var all: [(alias: DeviceAlias, device: String)] {
    devices.map { ($0.key, $0.value) }.sorted { $0.alias.description < $1.alias.description }
  }

  /// The device with an alias; `nil` if the alias is not assigned.
  package subscript(alias: DeviceAlias) -> String? { devices[alias] }

  /// Returns the alias of a device; `nil` if the device has no alias.
  package func alias(of device: String) -> DeviceAlias? {
    devices.first { $0.value == device }?.key
  }

  /// Assigns an alias to a device, and removes the former alias of the device.
  ///
  /// - Returns: the former alias; `nil` if the device had no alias, or already had this alias.
  /// - Throws: `.taken` if another device has the alias; `.full` if the maximum number is reached.
  package mutating func name(
    _ device: String, _ alias: DeviceAlias
  ) throws(Fault) -> DeviceAlias? {
    if let holder = devices[alias] {
      guard holder == device else { throw .taken(by: holder) }
      return nil
    }
    let former = self.alias(of: device)
    guard former != nil || devices.count < Self.capacity else {
      throw .full(maximum: Self.capacity)
    }
    if let former { devices[former] = nil }
    devices[alias] = device
    return former
  }

  /// Removes an alias.
  ///
  /// - Returns: the device of the alias; `nil` if the alias is not assigned.
  package mutating func remove(_ alias: DeviceAlias) -> String? {
    devices.removeValue(forKey: alias)
  }
}
