import OtaflashATT

/// A service that this server offers (Core 5.4, Vol 3, Part G, 3.1).
public struct LocalService: Sendable {
  /// The service's type.
  public var uuid: BluetoothUUID
  /// Whether the service is a primary service; a secondary service is only included by other
  /// services.
  public var isPrimary: Bool
  /// The indices of the included services in the table's list of services. An included service must
  /// be declared before this service (3.2).
  public var includes: [Int]
  /// The characteristics, in the order of their handles.
  public var characteristics: [LocalCharacteristic]

  /// Creates a service for an `AttributeTable`.
  public init(
    _ uuid: BluetoothUUID, isPrimary: Bool = true, includes: [Int] = [],
    characteristics: [LocalCharacteristic]
  ) {
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
  }
}

/// A characteristic of a local service (3.3). Its Client Characteristic Configuration, Extended
/// Properties and User Description descriptors are added automatically if needed.
public struct LocalCharacteristic: Sendable {
  /// The characteristic's type.
  public var uuid: BluetoothUUID
  /// The operations that clients may use; `notify` and `indicate` add a configuration descriptor.
  public var properties: CharacteristicProperties
  /// The security that a link needs to read or write the value, or to subscribe to it.
  public var security: AttributeSecurity
  /// The source of the value, and the destination of writes to the value.
  public var value: AttributeValue
  /// The extended properties (3.3.3.1): bit 0 reliable write, bit 1 writable auxiliaries. If the
  /// value is 0, the descriptor is omitted.
  public var extendedProperties: UInt16
  /// A description for users (3.3.3.2); `nil` omits the descriptor.
  public var userDescription: String?
  /// Further descriptors, in the order of their handles.
  public var descriptors: [LocalDescriptor]

  /// Creates a characteristic for a service.
  public init(
    _ uuid: BluetoothUUID, properties: CharacteristicProperties, value: AttributeValue,
    security: AttributeSecurity = [], extendedProperties: UInt16 = 0,
    userDescription: String? = nil, descriptors: [LocalDescriptor] = []
  ) {
    self.uuid = uuid
    self.properties = properties
    self.value = value
    self.security = security
    self.extendedProperties = extendedProperties
    self.userDescription = userDescription
    self.descriptors = descriptors
  }

  /// The properties as declared, including the bit for an Extended Properties descriptor.
  var declaredProperties: CharacteristicProperties {
    extendedProperties == 0 ? properties : properties.union(.extendedProperties)
  }

  var readPermission: AttributePermission {
    properties.contains(.read) ? .permitted(security) : .forbidden
  }

  var writePermission: AttributePermission {
    properties.isDisjoint(with: [.write, .writeWithoutResponse]) ? .forbidden : .permitted(security)
  }
}

/// A descriptor of a local characteristic (3.3.3).
public struct LocalDescriptor: Sendable {
  /// The descriptor's type.
  public var uuid: BluetoothUUID
  /// The permission to read the descriptor.
  public var readPermission: AttributePermission
  /// The permission to write the descriptor.
  public var writePermission: AttributePermission
  /// The source of the value, and the destination of writes to the descriptor.
  public var value: AttributeValue

  /// Creates a descriptor for a characteristic.
  public init(
    _ uuid: BluetoothUUID, read: AttributePermission = .permitted([]),
    write: AttributePermission = .forbidden, value: AttributeValue
  ) {
    self.uuid = uuid
    readPermission = read
    writePermission = write
    self.value = value
  }
}
