/// A simulated device as a text names it: `NAME?key=value&…`, what stands behind `sim:` on the
/// command line. Everything is optional; the empty text is the plain device. The settings are also
/// members of the profile itself: `profile.mtu`.
@dynamicMemberLookup
public struct SimulationProfile: Hashable, Sendable {
  /// The name in the text, `plain` when there is none.
  public internal(set) var name = "plain"
  /// What kind of device it is; the plain one has the OTA service.
  public var device = DeviceKind.otaReceiver
  /// What any kind can be set to.
  public var settings = BoardSettings()

  /// The plain device.
  public init() {}

  /// One of the settings.
  public subscript<Value>(dynamicMember field: WritableKeyPath<BoardSettings, Value>) -> Value {
    get { settings[keyPath: field] }
    set { settings[keyPath: field] = newValue }
  }

  /// The name of the application, given or not.
  public var applicationName: String { settings.givenName ?? device.applicationName }

  /// The bytes of flash that a board of this profile needs: the size of its `FlashMedium`.
  public var flashSize: Int { device.flashSize(settings) }
}

extension SimulationProfile {
  /// Every name that a profile may have, with one line on each.
  public static let catalogue: [(name: String, summary: String)] =
    presets.map { ($0.name, $0.summary) } + Fault.allCases.map { ($0.rawValue, $0.summary) }

  /// Every key of the plain device, with what its value must look like; `nil` = it takes none.
  public static let keys = keys(of: .otaReceiver)

  /// The kinds of device that have keys of their own, by the names of their first profiles.
  package static let kinds: [(name: String, keys: [KindKeyListing])] =
    allKinds.map { ($0.presets[0].name, $0.listing) }.filter { !$0.keys.isEmpty }

  /// Every key of a kind of device: those of all, its own, and the faults that it knows.
  public static func keys(of device: DeviceKind) -> [(key: String, allowed: String?)] {
    ProfileKey.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
      + device.ownKeys.map { ($0.key, $0.allowed) }
      + Fault.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
  }

  /// Reads `plain?seed=7&loss=1%`, with or without `sim:` before it.
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
