/// Devices that are found by listening: which of those that are heard, for how long, and what is
/// known of all of them.
package struct DeviceScan: Hashable, Sendable {
  /// In dBm, as advertisements are reported (Core 5.4, Vol 4, Part E, 7.7.65.2).
  package static let strengths = -127...20
  /// Whoever listens longer has forgotten a unit.
  package static let longest = Duration.seconds(3600)

  /// `*` stands for any characters; `nil` = any name, and none.
  package var namePattern: String?
  /// A UUID that the advertisement names, in lower case: 4, 8 or 36 characters; `nil` = any.
  package var service: String?
  /// In dBm; weaker ones are not taken.
  package var rssiMinimum: Int?
  package var duration = Duration.seconds(10)
  /// Of every device that is found.
  package var board: String?
  package var site: String?
  package var tags: Set<String> = []
  package var keyFile: String?

  package init() {}

  /// Whether a device that advertises so is one of them, its services aside: how a UUID is written
  /// short is known where it is heard.
  package func takes(name: String?, rssi: Int?) -> Bool {
    if let namePattern {
      guard let name, Wildcard.matches(name, pattern: namePattern) else { return false }
    }
    guard let rssiMinimum else { return true }
    return rssi.map { $0 >= rssiMinimum } ?? false
  }

  /// A device that was found, as one of the campaign.
  package func device(_ id: FleetDevice.ID, name: String?, rssi: Int?) -> FleetDevice {
    FleetDevice(
      id: id, name: name, board: board, site: site, tags: tags, keyFile: keyFile, rssi: rssi)
  }

  /// `text` in lower case where it is a UUID of 16, 32 or 128 bits.
  package static func serviceUUID(_ text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let isHexadecimal = parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    let lengths = parts.map(\.count)
    guard isHexadecimal, [[4], [8], [8, 4, 4, 4, 12]].contains(lengths) else { return nil }
    return text.lowercased()
  }
}
