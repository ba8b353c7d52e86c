import OtaflashATT
import OtaflashConsole
import OtaflashSimulation

/// `--adapter sim:8`: an adapter with simulated devices in range, to try a scan or a choice without
/// hardware. Each device is a `sim:` device with persistent flash.
package struct SimulatedAir: Equatable, Sendable {
  /// One device in range.
  package struct Station: Equatable, Sendable {
    /// The value of `-d` for the device: `sim:PROFILE`.
    package let id: String
    package let name: String
    package let services: [BluetoothUUID]
    /// The mean signal strength, in dBm.
    package let strength: Int
  }

  package static let expected = "sim or sim:N, with 1 to 100 simulated devices"
  private static let usualCount = 6
  private static let counts = 1...100
  private static let kinds: [(profile: String, name: String)] = [
    ("plain", "door"), ("smp", "sensor"), ("nordic-dfu", "lamp"), ("plain", "door"),
    ("infinitime", "watch"), ("nordic-legacy", "tag"), ("smp?address=random", "node"),
  ]

  package let stations: [Station]

  /// Returns `nil` unless `text` is `sim` or `sim:N`.
  package init?(_ text: String) {
    guard text == "sim" || text.hasPrefix("sim:") else { return nil }
    guard let count = text == "sim" ? Self.usualCount : Quantity.whole(text.dropFirst(4)),
      Self.counts.contains(count)
    else { return nil }
    stations = (1...count).compactMap(Self.station)
  }

  private static func station(_ number: Int) -> Station? {
    let (profile, name) = kinds[(number - 1) % kinds.count]
    let id = "sim:\(profile)\(profile.contains("?") ? "&" : "?")seed=\(number)"
    guard let device = SimulationProfile.read(id)?.device else { return nil }
    var random = SeededRandom(seed: UInt64(number))
    return Station(
      id: id, name: "\(name)-" + Text.padded(String(number), 2), services: [device.service],
      strength: -45 - Int(random.next() % 40))
  }
}

extension SimulationProfile {
  fileprivate static func read(_ text: String) -> SimulationProfile? {
    do throws(ProfileFault) { return try SimulationProfile(parsing: text) } catch { return nil }
  }
}
