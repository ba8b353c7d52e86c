import OtaflashFirmware
import OtaflashGATT

/// A simulated device as a text names it: `NAME?key=value&…`, what stands behind `sim:` on the
/// command line. Everything is optional; the empty text is the plain device.
public struct SimulationProfile: Hashable, Sendable {
  /// How the host learns that the device resets.
  public enum LinkDrop: String, CaseIterable, Sendable {
    /// The device falls silent, the host notices after the supervision timeout.
    case timeout
    /// The device ends the connection first.
    case close
  }

  /// What a link must offer before the device takes an update over it.
  public enum Security: String, CaseIterable, Sendable {
    /// None.
    case none
    /// Paired, in whatever way.
    case encrypted
    /// Paired with a passkey.
    case authenticated

    var needed: AttributeSecurity {
      switch self {
      case .none: []
      case .encrypted: .encryption
      case .authenticated: [.encryption, .authentication]
      }
    }
  }

  /// The name in the text, `plain` when there is none.
  public internal(set) var name = "plain"
  /// What kind of device it is; the plain one has the OTA service.
  public var device = DeviceKind.otaReceiver
  /// What the application calls itself, in its advertisement and as its Device Name (Core 5.4, Vol
  /// 3, Part C, 12.1); `nil` = what its kind does. Boot loaders keep their own name.
  public var givenName: String?
  /// Draws every chance of the board: the same seed, the same run.
  public var seed: UInt64 = 1
  /// The radio of its connections.
  public var radio = RadioModel()
  /// The largest ATT_MTU that the device agrees to, 23…517.
  public var mtu = 517
  /// The time to erase one page of 4 KiB.
  public var eraseTime: Duration = .milliseconds(85)
  /// The time to write 4 KiB.
  public var writeTimePer4KiB: Duration = .milliseconds(40)
  /// The receive buffer, in octets: a multiple of `rowSize`.
  public var ringSize = 8192
  /// Octets that are programmed at a time.
  public var rowSize = 1024
  /// In octets, a multiple of 4 KiB.
  public var slotSize = 512 * 1024
  /// What runs before the first update.
  public var version = FirmwareVersion(1, 2, 0)
  /// The board's own id.
  public var hardware = HardwareID(0x0000_A001)
  /// The key of the authorization; `nil` = the device wants none.
  public var key: [UInt8]?
  /// From a reset to the first advertisement.
  public var bootTime: Duration = .milliseconds(300)
  /// New images run on trial until they are confirmed.
  public var startsOnTrial = false
  /// How a host notices that the board has restarted.
  public var linkDrop = LinkDrop.timeout
  /// What a link must offer for an update.
  public var security = Security.none
  package var faults = FaultPlan()

  /// The plain device.
  public init() {}

  /// The name of the application, given or not.
  public var applicationName: String { givenName ?? device.applicationName }
}

/// What is wrong with the text of a profile.
public enum ProfileFault: Error, Equatable, Sendable {
  /// No kind or fault has this name.
  case unknownProfile(name: String, allowed: [String])
  /// The profile has no setting of this name.
  case unknownKey(key: String, allowed: [String])
  /// `allowed` says in words what the value must look like.
  case valueNotAllowed(key: String, value: String, allowed: String)
  /// One setting has two values.
  case repeatedKey(key: String)
  /// Each value is fine, but the radio that they describe could not carry a packet.
  case radio(RadioModelFault)
}

extension ProfileFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownProfile(let name, let allowed):
      "there is no profile '\(name)'; there are " + allowed.joined(separator: ", ")
    case .unknownKey(let key, let allowed):
      "there is no setting '\(key)'; there are " + allowed.joined(separator: ", ")
    case .valueNotAllowed(let key, let value, let allowed):
      "'\(value)' is not allowed for \(key); it is \(allowed)"
    case .repeatedKey(let key): "\(key) is set twice"
    case .radio(let fault): "no such radio can be built: \(fault)"
    }
  }
}

extension SimulationProfile {
  /// Every name that a profile may have, with one line on each.
  public static let catalogue: [(name: String, summary: String)] =
    presets.map { ($0.name, $0.summary) } + FaultName.allCases.map { ($0.rawValue, $0.summary) }

  /// Every key of the plain device, with what its value must look like; `nil` = it takes none.
  public static let keys = keys(of: .otaReceiver)

  /// The profiles whose kind of device has keys of its own.
  package static let kinds: [(name: String, keys: [KindKeyListing])] =
    ["smp", "nordic-dfu", "nordic-legacy"].map { name in
      var profile = SimulationProfile()
      presets.first { $0.name == name }?.apply(&profile)
      return (name, profile.device.ownKeys)
    }

  /// Every key of a kind of device: those of all, its own, and the faults that it knows.
  public static func keys(of device: DeviceKind) -> [(key: String, allowed: String?)] {
    ProfileKey.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
      + device.ownKeys.map { ($0.key, $0.allowed) }
      + FaultName.allCases.filter(device.takes).map { ($0.rawValue, $0.allowedValues) }
  }

  /// Reads `plain?seed=7&loss=1%`, with or without `sim:` before it.
  public init(parsing text: String) throws(ProfileFault) {
    self.init()
    let body = text.hasPrefix("sim:") ? text.dropFirst(4) : text[...]
    let parts = body.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    try setName(String(parts[0]))
    if parts.count == 2 { try setKeys(parts[1]) }
    do { try radio.validate() } catch { throw .radio(error) }
  }

  private mutating func setName(_ name: String) throws(ProfileFault) {
    guard !name.isEmpty else { return }
    if let preset = Self.presets.first(where: { $0.name == name }) {
      preset.apply(&self)
    } else if let fault = FaultName(rawValue: name)?.fault(value: nil) {
      faults.add(fault)
      if fault == .torn, let reset = FaultName.resetAtFlashOperation.fault(value: nil) {
        faults.add(reset)
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
      guard let value, name.apply(value, to: &self) else {
        throw .valueNotAllowed(key: key, value: value ?? "", allowed: name.allowedValues)
      }
    } else if let name = FaultName(rawValue: key), device.takes(name) {
      guard let fault = name.fault(value: value) else {
        throw .valueNotAllowed(
          key: key, value: value ?? "", allowed: name.allowedValues ?? "no value")
      }
      faults.add(fault)
    } else {
      throw .unknownKey(key: key, allowed: Self.keys(of: device).map(\.key))
    }
  }
}
