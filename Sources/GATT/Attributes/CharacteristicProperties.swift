/// The properties of a characteristic (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The value may be broadcast.
  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  /// The value can be read.
  public static let read = CharacteristicProperties(rawValue: 0x02)
  /// The value can be written without response.
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  /// The value can be written with response.
  public static let write = CharacteristicProperties(rawValue: 0x08)
  /// The server can send notifications of the value.
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  /// The server can send indications of the value; the client confirms each indication.
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  /// The value can be written with a signature.
  public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
  /// A descriptor states further properties.
  public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}
