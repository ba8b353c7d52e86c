import OtaflashATT

/// A primary service found on the peer (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
  /// The service's type.
  public let uuid: BluetoothUUID
  /// The handles of the service, including its declaration.
  public let handles: HandleRange

  /// Creates a service that the caller knows without discovery.
  public init(uuid: BluetoothUUID, handles: HandleRange) {
    self.uuid = uuid
    self.handles = handles
  }
}

/// A characteristic found on the peer (Core 5.4, Vol 3, Part G, 3.3).
public struct DiscoveredCharacteristic: Hashable, Sendable {
  /// The characteristic's type.
  public let uuid: BluetoothUUID
  /// The operations that the value supports.
  public let properties: CharacteristicProperties
  /// The declaration's handle.
  public let declaration: AttributeHandle
  /// The value's handle.
  public let value: AttributeHandle
  /// The last handle of the characteristic; its descriptors are between `value` and this handle.
  public let last: AttributeHandle

  /// Creates a characteristic that the caller knows without discovery.
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

/// The value of a characteristic declaration: properties, value handle, UUID (Core 5.4, Vol 3, Part
/// G, 3.3.1).
struct CharacteristicDeclaration {
  let properties: CharacteristicProperties
  let value: AttributeHandle
  let uuid: BluetoothUUID

  init(decoding bytes: [UInt8]) throws(GATTFault) {
    guard bytes.count == 5 || bytes.count == 19,
      let uuid = BluetoothUUID(littleEndian: bytes[3...])
    else {
      throw .violation("a characteristic declaration has \(bytes.count) bytes, not 5 or 19")
    }
    properties = CharacteristicProperties(rawValue: bytes[0])
    value = AttributeHandle(UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
    self.uuid = uuid
  }
}

extension BluetoothUUID {
  /// Primary Service declaration. The declarations and descriptors are attribute types of Core 5.4,
  /// Vol 3, Part G, 3.4.
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
