/// A chip of Espressif, by the id in an image header (ESP-IDF, `esp_chip_id_t`).
public struct ESPChip: RawRepresentable, Hashable, Sendable {
  /// The id, 0…65535.
  public let rawValue: UInt16

  /// Creates a chip with an id, which may be unknown.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The chips and their names. A name that contains another name comes first, so that a search in
  /// a text finds the longest name.
  private static let names: [(id: UInt16, name: String)] = [
    (0x02, "ESP32-S2"), (0x09, "ESP32-S3"), (0x20, "ESP32-S31"), (0x05, "ESP32-C3"),
    (0x0C, "ESP32-C2"), (0x0D, "ESP32-C6"), (0x14, "ESP32-C61"), (0x17, "ESP32-C5"),
    (0x10, "ESP32-H2"), (0x19, "ESP32-H21"), (0x1C, "ESP32-H4"), (0x12, "ESP32-P4"),
    (0x00, "ESP32"),
  ].sorted { $0.1.count > $1.1.count }

  /// Finds the name of a chip in a text, such as the model number of a device. A hyphen may be
  /// missing: `ESP32S3`. Returns `nil` if the text contains no name except `ESP32`, which is also
  /// the name of the family.
  public init?(namedIn text: String) {
    let letters = text.uppercased().filter { $0.isLetter || $0.isNumber }
    let found = Self.names.first { row in
      row.id != 0 && letters.contains(row.name.filter { $0 != "-" })
    }
    guard let found else { return nil }
    self.init(rawValue: found.id)
  }
}

extension ESPChip: CustomStringConvertible {
  /// The name, such as `ESP32-C3`.
  public var description: String {
    Self.names.first { $0.id == rawValue }?.name ?? "ESP chip \(rawValue)"
  }
}
