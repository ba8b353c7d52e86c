import OtaflashATT

/// What a simulated board is: which update service its firmware offers, with what only that kind
/// has to set. A kind is a folder with settings that say all there is to know of it; the catalogue
/// lists them.
public struct DeviceKind: Hashable, Sendable {
  private var settings: any KindSettings

  init(_ settings: any KindSettings) { self.settings = settings }

  public static func == (left: DeviceKind, right: DeviceKind) -> Bool {
    left.settings.equals(right.settings)
  }

  public func hash(into hasher: inout Hasher) { settings.hash(into: &hasher) }

  /// What only this kind has to set; `nil` when it is another kind.
  public func settings<Settings>(as _: Settings.Type = Settings.self) -> Settings? {
    settings as? Settings
  }

  /// The service that the device advertises, for a radio that cannot follow its programs.
  public var service: BluetoothUUID { settings.service }

  var applicationName: String { settings.applicationName }

  /// The bytes of flash that a board with these settings needs.
  func flashSize(_ board: BoardSettings) -> Int { board.layout.size * settings.imageCount }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try settings.makeFirmware(of: parts)
  }
}

/// The settings of one kind, and all that the board and the catalogue want of it.
protocol KindSettings: Hashable, Sendable {
  /// Devices of the kind that have a name; the first has the settings' defaults.
  static var presets: [ProfilePreset] { get }
  static var keys: [KindKey<Self>] { get }
  /// The keys of all profiles that mean nothing to this kind.
  static var foreignKeys: Set<ProfileKey> { get }
  /// The faults that this kind knows.
  static var faults: Set<Fault> { get }

  /// The service that the device advertises.
  var service: BluetoothUUID { get }
  /// What an application of the kind calls itself.
  var applicationName: String { get }
  /// Images that the device keeps apart, each with slots of its own.
  var imageCount: Int { get }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware
}

/// A profile with a name of its own: what it is, and what it sets.
struct ProfilePreset: Sendable {
  let name: String
  /// One line for a person who chooses.
  let summary: String
  let device: DeviceKind
  var apply: @Sendable (inout BoardSettings) -> Void = { _ in }
}

extension KindSettings {
  var imageCount: Int { 1 }

  fileprivate func equals(_ other: any KindSettings) -> Bool { other as? Self == self }

  static var listing: [KindKeyListing] {
    keys.map { KindKeyListing(key: $0.key, summary: $0.summary, allowed: $0.allowed) }
  }

  /// `nil` when the kind has no such key, else the fault that setting it met.
  mutating func set(_ key: String, to text: String?) -> Result<Void, ProfileFault>? {
    guard let setting = Self.keys.first(where: { $0.key == key }) else { return nil }
    guard let text, setting.apply(text, &self) else {
      return .failure(
        .valueNotAllowed(key: key, value: text ?? "", allowed: setting.allowed))
    }
    return .success(())
  }
}

extension DeviceKind {
  /// The keys beside those of all profiles.
  var ownKeys: [KindKeyListing] { type(of: settings).listing }

  func takes(_ key: ProfileKey) -> Bool { !type(of: settings).foreignKeys.contains(key) }

  func takes(_ fault: Fault) -> Bool { type(of: settings).faults.contains(fault) }

  /// As `KindSettings.set`.
  mutating func set(_ key: String, to text: String?) -> Result<Void, ProfileFault>? {
    settings.set(key, to: text)
  }
}
