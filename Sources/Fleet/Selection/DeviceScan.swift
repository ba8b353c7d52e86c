/// A scan for devices of a campaign: its filter, its duration, and the facts that all found devices
/// share.
package struct DeviceScan: Hashable, Sendable {
  /// The range of RSSI values in advertising reports, in dBm (Core 5.4, Vol 4, Part E, 7.7.65.2).
  package static let strengths = -127...20
  /// The maximum duration; a longer value probably has the wrong unit.
  package static let longest = Duration.seconds(3600)

  /// A pattern in which `*` matches any characters; `nil` = any device, with or without a name.
  package var namePattern: String?
  /// A service UUID in the advertisement, in lower case: 4, 8 or 36 characters; `nil` = any
  /// service.
  package var service: String?
  /// The minimum RSSI in dBm.
  package var rssiMinimum: Int?
  package var duration = Duration.seconds(10)
  /// The board of every device that the scan finds.
  package var board: String?
  package var site: String?
  package var tags: Set<String> = []
  package var keyFile: String?

  package init() {}

  /// Returns whether a name and an RSSI match the filter. The service is compared by the scanner,
  /// which also supports the short forms of UUIDs.
  package func takes(name: String?, rssi: Int?) -> Bool {
    if let namePattern {
      guard let name, Wildcard.matches(name, pattern: namePattern) else { return false }
    }
    guard let rssiMinimum else { return true }
    return rssi.map { $0 >= rssiMinimum } ?? false
  }

  /// Returns the campaign device for a device that the scan found.
  package func device(_ id: FleetDevice.ID, name: String?, rssi: Int?) -> FleetDevice {
    FleetDevice(
      id: id, name: name, board: board, site: site, tags: tags, keyFile: keyFile, rssi: rssi)
  }

  /// Returns `text` in lower case if it is a UUID of 16, 32 or 128 bits; otherwise `nil`.
  package static func serviceUUID(_ text: String) -> String? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let isHexadecimal = parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    let lengths = parts.map(\.count)
    guard isHexadecimal, [[4], [8], [8, 4, 4, 4, 12]].contains(lengths) else { return nil }
    return text.lowercased()
  }
}
