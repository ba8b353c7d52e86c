import OtaflashATT

/// What a characteristic allows (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The value may be broadcast.
  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  /// The value can be read.
  public static let read = CharacteristicProperties(rawValue: 0x02)
  /// The value can be written without an answer.
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  /// The value can be written with an answer.
  public static let write = CharacteristicProperties(rawValue: 0x08)
  /// The value is notified.
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  /// The value is indicated, each time with a confirmation.
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  /// The value can be written with a signature.
  public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
  /// More properties are in a descriptor of their own.
  public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// A primary service found on the peer (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
  /// The service's type.
  public let uuid: BluetoothUUID
  /// The service's attributes, its own declaration among them.
  public let handles: HandleRange

  /// A service that something else than discovery knows of.
  public init(uuid: BluetoothUUID, handles: HandleRange) {
    self.uuid = uuid
    self.handles = handles
  }
}

/// A characteristic found on the peer (Core 5.4, Vol 3, Part G, 3.3).
public struct DiscoveredCharacteristic: Hashable, Sendable {
  /// The characteristic's type.
  public let uuid: BluetoothUUID
  /// What can be done with the value.
  public let properties: CharacteristicProperties
  /// The declaration's handle.
  public let declaration: AttributeHandle
  /// The value's handle.
  public let value: AttributeHandle
  /// The last handle that belongs to it; its descriptors lie behind `value` up to here.
  public let last: AttributeHandle

  /// A characteristic that something else than discovery knows of.
  public init(
    uuid: BluetoothUUID, properties: CharacteristicProperties, declaration: AttributeHandle,
    value: AttributeHandle, last: AttributeHandle
  ) {
    self.uuid = uuid
    self.properties = properties
    self.declaration = declaration
    self.value = value
    self.last = last
  }
}

/// The declaration's value: properties, value handle, UUID (Core 5.4, Vol 3, Part G, 3.3.1).
struct CharacteristicDeclaration {
  let properties: CharacteristicProperties
  let value: AttributeHandle
  let uuid: BluetoothUUID

  init(decoding bytes: [UInt8]) throws(GATTFault) {
    guard bytes.count == 5 || bytes.count == 19,
      let uuid = BluetoothUUID(littleEndian: bytes[3...])
    else {
      throw .violation("a characteristic declaration has \(bytes.count) octets, not 5 or 19")
    }
    properties = CharacteristicProperties(rawValue: bytes[0])
    value = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
    self.uuid = uuid
  }
}

extension BluetoothUUID {
  /// Attribute types of Core 5.4, Vol 3, Part G, 3.4.
  public static let primaryService = BluetoothUUID(0x2800)
  /// Secondary Service declaration.
  public static let secondaryService = BluetoothUUID(0x2801)
  /// Include declaration.
  public static let include = BluetoothUUID(0x2802)
  /// Characteristic declaration.
  public static let characteristic = BluetoothUUID(0x2803)
  /// Client Characteristic Configuration descriptor.
  public static let clientCharacteristicConfiguration = BluetoothUUID(0x2902)
  /// Service Changed characteristic.
  public static let serviceChanged = BluetoothUUID(0x2A05)
  /// Generic Access service.
  public static let genericAccess = BluetoothUUID(0x1800)
  /// Generic Attribute service.
  public static let genericAttribute = BluetoothUUID(0x1801)
}
