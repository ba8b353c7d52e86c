import OtaflashATT

/// What a characteristic allows (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  public static let read = CharacteristicProperties(rawValue: 0x02)
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  public static let write = CharacteristicProperties(rawValue: 0x08)
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
  public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// A primary service found on the peer (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
  public let uuid: BluetoothUUID
  public let handles: HandleRange

  public init(uuid: BluetoothUUID, handles: HandleRange) {
    self.uuid = uuid
    self.handles = handles
  }
}

/// A characteristic found on the peer (Core 5.4, Vol 3, Part G, 3.3).
public struct DiscoveredCharacteristic: Hashable, Sendable {
  public let uuid: BluetoothUUID
  public let properties: CharacteristicProperties
  public let declaration: AttributeHandle
  public let value: AttributeHandle
  /// The last handle that belongs to it; its descriptors lie behind `value` up to here.
  public let last: AttributeHandle

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
  public static let secondaryService = BluetoothUUID(0x2801)
  public static let include = BluetoothUUID(0x2802)
  public static let characteristic = BluetoothUUID(0x2803)
  public static let clientCharacteristicConfiguration = BluetoothUUID(0x2902)
  public static let serviceChanged = BluetoothUUID(0x2A05)
  public static let genericAccess = BluetoothUUID(0x1800)
  public static let genericAttribute = BluetoothUUID(0x1801)
}
