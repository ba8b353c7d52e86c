/// A simulated device, parsed from `NAME?key=value&…`, the text after `sim:` on the command line.
/// All parts are optional; the empty string stands for the plain device. The settings are also
/// members of the profile itself: `profile.mtu`.
@dynamicMemberLookup
public struct SimulationProfile: Hashable, Sendable {
  /// The name in the string, or `plain`.
  public internal(set) var name = "plain"
  /// The kind of device; the plain device has the OTA service.
  public var device = DeviceKind.otaReceiver
  /// The settings that all kinds share.
  public var settings = BoardSettings()

  /// Creates the plain device.
  public init() {}

  /// Accesses one of the settings.
  public subscript<Value>(dynamicMember field: WritableKeyPath<BoardSettings, Value>) -> Value {
    get { settings[keyPath: field] }
    set { settings[keyPath: field] = newValue }
  }

  /// The name of the application, from the settings or by default.
  public var applicationName: String { settings.givenName ?? device.applicationName }

  /// The flash size of a board with this profile in bytes: the size of its `FlashMedium`.
  public var flashSize: Int { device.flashSize(settings) }
  /// The size in bytes of the flash for images, which is the complete flash of a board that an
  /// earlier version of this package created.
  package var imageFlashSize: Int { device.imageFlashSize(settings) }
}

extension SimulationProfile {
  /// The names of all profiles, with a one-line description of each.
  public static let catalogue: [(name: String, summary: String)] =
    presets.map { ($0.name, $0.summary) } + Fault.allCases.map { ($0.rawValue, $0.summary) }

  /// The keys of the plain device, with the descriptions of their allowed values; `nil` = no value.
  public static let keys = keys(of: .otaReceiver)

  /// The kinds of device with additional keys, by the names of their first profiles.
  package static let kinds: [(name: String, keys: [KindKeyListing])] =
    allKinds.map { ($0.presets[0].name, $0.listing) }.filter { !$0.keys.isEmpty }

  /// Returns the keys of a kind of device: general keys, additional keys, and supported faults.
  public static func keys(of device: DeviceKind) -> [(key: String, allowed: String?)] {
    ProfileKey.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
      + device.ownKeys.map { ($0.key, $0.allowed) }
      + Fault.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
  }

  /// Parses `plain?seed=7&loss=1%`, with or without the prefix `sim:`.
  public init(parsing text: String) throws(ProfileFault) {
    self.init()
    let body = text.hasPrefix("sim:") ? text.dropFirst(4) : text[...]
    let parts = body.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    try setName(String(parts[0]))
    if parts.count == 2 { try setKeys(parts[1]) }
    do { try settings.radio.validate() } catch { throw .radio(error) }
  }

  private mutating func setName(_ name: String) throws(ProfileFault) {
    guard !name.isEmpty else { return }
    if let preset = Self.presets.first(where: { $0.name == name }) {
      device = preset.device
      preset.apply(&settings)
    } else if let fault = Fault(rawValue: name) {
      settings.faults.add(fault, fault.usual)
      if fault == .torn {
        let reset = Fault.resetAtFlashOperation
        settings.faults.add(reset, reset.usual)
      }
    } else {
      throw .unknownProfile(name: name, allowed: Self.catalogue.map(\.name))
    }
    self.name = name
  }

  private mutating func setKeys(_ text: Substring) throws(ProfileFault) {
    var seen: Set<Substring> = []
    for setting in text.split(separator: "&") {
      let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard seen.insert(parts[0]).inserted else { throw .repeatedKey(key: String(parts[0])) }
      try set(String(parts[0]), to: parts.count == 2 ? String(parts[1]) : nil)
    }
  }

  private mutating func set(_ key: String, to value: String?) throws(ProfileFault) {
    if let result = device.set(key, to: value) {
      try result.get()
    } else if let name = ProfileKey(rawValue: key), device.takes(name) {
      guard let value, name.apply(value, to: &settings) else {
        throw .valueNotAllowed(key: key, value: value ?? "", allowed: name.allowedValues)
      }
    } else if let fault = Fault(rawValue: key), device.takes(fault) {
      guard let value = value.map(fault.value) ?? fault.usual else {
        throw .valueNotAllowed(
          key: key, value: value ?? "", allowed: fault.allowedValues ?? "no value")
      }
      settings.faults.add(fault, value)
    } else {
      throw .unknownKey(key: key, allowed: Self.keys(of: device).map(\.key))
    }
  }
}
