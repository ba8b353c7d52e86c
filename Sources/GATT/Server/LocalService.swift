import OtaflashATT

/// A service that this server offers (Core 5.4, Vol 3, Part G, 3.1).
public struct LocalService: Sendable {
  /// The service's type.
  public var uuid: BluetoothUUID
  /// A primary service, or a service that other services include.
  public var isPrimary: Bool
  /// The indices of the included services in the table's list of services. An included service must
  /// be declared before this service (3.2).
  public var includes: [Int]
  /// The characteristics, in the order of their handles.
  public var characteristics: [LocalCharacteristic]

  /// A service for an `AttributeTable`.
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
  /// The source of the value, and the destination of writes.
  public var value: AttributeValue
  /// Extended properties (3.3.3.1), declared if not 0: bit 0 reliable write, bit 1 writable
  /// auxiliaries.
  public var extendedProperties: UInt16
  /// A human-readable description (3.3.3.2).
  public var userDescription: String?
  /// Further descriptors, in the order of their handles.
  public var descriptors: [LocalDescriptor]

  /// A characteristic of a custom service.
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
  /// The source of the value, and the destination of writes.
  public var value: AttributeValue

  /// A descriptor of a custom characteristic.
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
