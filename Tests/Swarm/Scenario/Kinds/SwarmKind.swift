import OtaflashFirmware
import OtaflashSimulation

/// What the swarm wants to know of a kind of device that has another protocol than the OTA service:
/// the settings of each kind say it.
protocol SwarmKind: Sendable {
  /// The names of its profiles, each as often as its share of days.
  static var days: [String] { get }
  /// How settings begin by which an update takes another way.
  static var ways: [String] { get }
  /// A profile for every way that such an update goes, without what flash takes where that changes
  /// no step.
  static var samples: [String] { get }

  /// Draws a device of one of the names.
  static func device(_ name: String, _ draw: inout KindDraw) -> DrawnDevice

  /// The device has one place for the image, over the one that runs.
  var overwritesWhatRuns: Bool { get }

  /// The image that the device takes, around the bytes of a plain one.
  ///
  /// - Parameter index: which of the device's images it is for.
  func image(_ plain: FirmwareImage, version: FirmwareVersion, index: Int) throws -> FirmwareImage
}

enum SwarmKinds {
  /// A row each.
  static let all: [any SwarmKind.Type] = [
    SMPServerSettings.self, SecureBootloaderSettings.self, LegacyBootloaderSettings.self,
  ]
}

extension Scenario {
  /// The profiles of a kind that are drawn; none of the OTA service, which has a swarm of its own.
  public static func names(of device: DeviceKind) -> [String] {
    device.ofSwarm.map { type(of: $0).days } ?? []
  }
}

extension DeviceKind {
  /// `nil` for the OTA service.
  var ofSwarm: (any SwarmKind)? { settings() }
}
