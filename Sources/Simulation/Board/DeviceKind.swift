import OtaflashATT

/// The kind of a simulated board: the update service of its firmware, with the settings of this
/// kind. Each kind has a folder and a settings type that describes the kind completely; the catalog
/// lists the kinds.
public struct DeviceKind: Hashable, Sendable {
  private var settings: any KindSettings

  init(_ settings: any KindSettings) { self.settings = settings }

  public static func == (left: DeviceKind, right: DeviceKind) -> Bool {
    left.settings.equals(right.settings)
  }

  public func hash(into hasher: inout Hasher) { settings.hash(into: &hasher) }

  /// Returns the settings that only this kind has; `nil` if the device is of another kind.
  public func settings<Settings>(as _: Settings.Type = Settings.self) -> Settings? {
    settings as? Settings
  }

  /// The service to advertise over a radio whose advertisement cannot change when the device starts
  /// another program.
  public var service: BluetoothUUID { settings.service }

  var applicationName: String { settings.applicationName }

  /// Returns the flash size of a board with these settings, in bytes.
  func flashSize(_ board: BoardSettings) -> Int {
    imageFlashSize(board) + settings.dataPages * BoardSettings.pageSize
  }

  /// Returns the size of the flash for images, in bytes. The application's data follows.
  func imageFlashSize(_ board: BoardSettings) -> Int { board.layout.size * settings.imageCount }

  /// The size of a flash page in bytes.
  var flashPageSize: Int { settings.flashPageSize }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try settings.makeFirmware(of: parts)
  }
}

/// The settings of one kind, and the properties that the board and the catalog need.
protocol KindSettings: Hashable, Sendable {
  /// The named devices of the kind; the first has the default settings.
  static var presets: [ProfilePreset] { get }
  static var keys: [KindKey<Self>] { get }
  /// The general keys that this kind does not support.
  static var foreignKeys: Set<ProfileKey> { get }
  /// The faults that this kind supports.
  static var faults: Set<Fault> { get }

  /// The service that the device advertises.
  var service: BluetoothUUID { get }
  /// The name of an application of the kind.
  var applicationName: String { get }
  /// The number of images with separate slots.
  var imageCount: Int { get }
  /// The number of flash pages for the application's data.
  var dataPages: Int { get }
  /// The size of a flash page in bytes.
  var flashPageSize: Int { get }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware
}

/// A named profile: its description and its settings.
struct ProfilePreset: Sendable {
  let name: String
  /// A one-line description for the help.
  let summary: String
  let device: DeviceKind
  var apply: @Sendable (inout BoardSettings) -> Void = { _ in }
}

extension KindSettings {
  var imageCount: Int { 1 }
  var dataPages: Int { 0 }
  var flashPageSize: Int { BoardSettings.pageSize }

  fileprivate func equals(_ other: any KindSettings) -> Bool { other as? Self == self }

  static var listing: [KindKeyListing] {
    keys.map { KindKeyListing(key: $0.key, summary: $0.summary, allowed: $0.allowed) }
  }

  /// Changes a setting. Returns `nil` if the kind has no such key.
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
  /// The keys that only this kind has.
  var ownKeys: [KindKeyListing] { type(of: settings).listing }

  func takes(_ key: ProfileKey) -> Bool { !type(of: settings).foreignKeys.contains(key) }

  func takes(_ fault: Fault) -> Bool { type(of: settings).faults.contains(fault) }

  /// Changes a setting, as `KindSettings.set` does.
  mutating func set(_ key: String, to text: String?) -> Result<Void, ProfileFault>? {
    settings.set(key, to: text)
  }
}
