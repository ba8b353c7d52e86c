/// A user's own name for a device, such as `door-01`.
package struct DeviceAlias: Hashable, Sendable, CustomStringConvertible {
  /// Why a text cannot be an alias.
  package enum Fault: Error, Equatable, Sendable {
    /// It is empty or longer than an alias may be, in characters.
    case length(maximum: Int)
    /// It begins with another character than a letter or a digit.
    case beginning
    /// It has this character, which is neither a letter nor a digit, `-`, `_` or `.`.
    case character(Character)
    /// The word means something else where a device is named.
    case reserved
  }

  /// In characters.
  package static let lengthMaximum = 64

  /// What stands for a device by itself, or could be taken for the beginning of a form of DEVICE.
  private static let reserved: Set<String> = [
    "all", "any", "auto", "last", "name", "none", "sim", "sim-fleet", "unix",
  ]

  /// The name as it was given; upper and lower case differ.
  package let description: String

  /// - Throws: why `text` is none. It has no colon, so it is never an address or another form of
  ///   DEVICE.
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
  /// A clause behind "it": `it has a ':'`.
  package var description: String {
    switch self {
    case .length(let maximum): "it must have 1 to \(maximum) characters"
    case .beginning: "it must begin with a letter or a digit"
    case .character(let character):
      "it has a '\(character)'; letters, digits, '-', '_' and '.' may be in it"
    case .reserved: "the word means something else where a device is named"
    }
  }
}

/// The aliases of a user: one device each, and one alias a device.
package struct DeviceAliases: Equatable, Sendable {
  /// Why a device was not given an alias.
  package enum Fault: Error, Equatable, Sendable {
    /// It is another device's.
    case taken(by: String)
    /// There are as many as are kept.
    case full(maximum: Int)
  }

  /// How many are kept.
  package static let capacity = 10_000

  /// What each stands for: an id as `DeviceRecord` has it.
  private var devices: [DeviceAlias: String] = [:]

  /// None.
  package init() {}

  /// In the order of the names.
  package var all: [(alias: DeviceAlias, device: String)] {
    devices.map { ($0.key, $0.value) }.sorted { $0.alias.description < $1.alias.description }
  }

  /// The device that has the alias.
  package subscript(alias: DeviceAlias) -> String? { devices[alias] }

  /// The alias of a device.
  package func alias(of device: String) -> DeviceAlias? {
    devices.first { $0.value == device }?.key
  }

  /// Gives a device an alias instead of the one that it has.
  ///
  /// - Returns: the former one; `nil` where there was none, or it is the same.
  /// - Throws: `.taken` where another device has it, `.full`.
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

  /// Takes an alias away.
  ///
  /// - Returns: whose it was; `nil` where there is no such alias.
  package mutating func remove(_ alias: DeviceAlias) -> String? {
    devices.removeValue(forKey: alias)
  }
}
