import OtaflashATT

/// A service that this server offers (Core 5.4, Vol 3, Part G, 3.1).
public struct LocalService: Sendable {
  /// The service's type.
  public var uuid: BluetoothUUID
  /// Primary, or one that others include.
  public var isPrimary: Bool
  /// Positions, in the table's list of services, of services declared before this one (3.2).
  public var includes: [Int]
  /// In the order of their handles.
  public var characteristics: [LocalCharacteristic]

  /// A service to be put into an `AttributeTable`.
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
/// Properties and User Description descriptors are added where they are needed.
public struct LocalCharacteristic: Sendable {
  /// The characteristic's type.
  public var uuid: BluetoothUUID
  /// What a client can do with it; a configuration descriptor follows from `notify` and
  /// `indicate`.
  public var properties: CharacteristicProperties
  /// What a link must offer to read or write the value, or to subscribe to it.
  public var security: AttributeSecurity
  /// Where the value comes from, and where it goes.
  public var value: AttributeValue
  /// Extended properties (3.3.3.1), declared when not 0: bit 0 reliable write, bit 1 writable
  /// auxiliaries.
  public var extendedProperties: UInt16
  /// A text for people (3.3.3.2).
  public var userDescription: String?
  /// Further descriptors, in the order of their handles.
  public var descriptors: [LocalDescriptor]

  /// A characteristic of a service of one's own.
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

  /// The properties as declared, with the bit that announces an Extended Properties descriptor.
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
  /// Whether, and on which link, it can be read.
  public var readPermission: AttributePermission
  /// Whether, and on which link, it can be written.
  public var writePermission: AttributePermission
  /// Where the value comes from, and where it goes.
  public var value: AttributeValue

  /// A descriptor of a characteristic of one's own.
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
