import OtaflashFirmware
import OtaflashSimulation

/// The description of a kind of device with a protocol other than the OTA service, for the swarm.
/// The settings of each kind conform to this protocol.
protocol SwarmKind: Sendable {
  /// The names of the kind's profiles; a name that is repeated is drawn more often.
  static var days: [String] { get }
  /// The prefixes of settings that select another variant of an update.
  static var ways: [String] { get }
  /// A profile for every variant of an update of this kind. Flash operations take no time, because
  /// their times do not change any step.
  static var samples: [String] { get }

  /// Draws a device with one of the names.
  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice

  /// Whether the device writes a new image over the running image.
  var overwritesWhatRuns: Bool { get }

  /// Returns a plain image in the format that the device accepts.
  ///
  /// - Parameter index: the number of the image in the device.
  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage
}

enum SwarmKinds {
  static let all: [any SwarmKind.Type] = [
    SMPServerSettings.self, SecureBootloaderSettings.self, LegacyBootloaderSettings.self,
    EspressifSettings.self,
    SilabsSettings.self,
    TelinkServerSettings.self,
    SUOTASettings.self,
    OADServerSettings.self,
    MicrobitSettings.self,
  ]
}

extension Scenario {
  /// Returns the profiles of a kind that the swarm draws; empty for the OTA service, which has a
  /// separate swarm.
  public static func names(of device: DeviceKind) -> [String] {
    device.ofSwarm.map { type(of: $0).days } ?? []
  }
}

extension DeviceKind {
  /// The description of a kind; `nil` for the OTA service.
  var ofSwarm: (any SwarmKind)? { settings() }
}
