import OtaflashATT

/// The attributes of a server, in the order of their handles, which start at 0x0001 and have no
/// gaps (Core 5.4, Vol 3, Part G, 2.5 and 3).
public struct AttributeTable: Sendable {
  /// The content of an attribute: bytes, closures, or separate bytes for each client.
  enum Content {
    case value(AttributeValue)
    /// A Client Characteristic Configuration; `permitted` is derived from the properties.
    case clientConfiguration(of: AttributeHandle, permitted: ClientConfiguration)
  }

  struct Attribute {
    let handle: AttributeHandle
    let type: BluetoothUUID
    let read: AttributePermission
    let write: AttributePermission
    /// The procedures with which a client may write, if `write` permits the access.
    let writeWays: CharacteristicProperties
    var content: Content
    /// The last handle of the service that starts here; `handle` if no service starts here.
    var groupEnd: AttributeHandle
  }

  private(set) var attributes: [Attribute] = []
  /// The value handles of the characteristics of each service.
  private var valueHandles: [[AttributeHandle]] = []

  /// Creates a table. An included service that is declared later, or more than 65,535 attributes,
  /// is a programming error and traps.
  ///
  /// - Parameter services: the services, in the order of their handles.
  public init(services: [LocalService]) {
    var declarations: [Int] = []
    for service in services {
      let start = attributes.count
      valueHandles.append([])
      add(service, after: declarations, of: services)
      attributes[start].groupEnd = attributes[attributes.count - 1].handle
      declarations.append(start)
    }
  }

  /// Returns the value handle of the first characteristic with this UUID; `nil` if no
  /// characteristic has this UUID.
  public func valueHandle(of uuid: BluetoothUUID) -> AttributeHandle? {
    for (declaration, value) in zip(attributes, attributes.dropFirst())
    where declaration.type == .characteristic && value.type == uuid {
      return value.handle
    }
    return nil
  }

  /// Returns the value handle of the characteristic at a position, for tables with several
  /// characteristics of one UUID.
  ///
  /// - Parameters:
  ///   - index: the position in the service's characteristics, from 0; traps if it is invalid.
  ///   - service: the position in the services that the table was created with, from 0.
  public func handle(ofCharacteristic index: Int, inService service: Int) -> AttributeHandle {
    valueHandles[service][index]
  }

  /// Returns the value handle of a characteristic of the table; traps if the characteristic does
  /// not exist.
  public func handle(of uuid: BluetoothUUID) -> AttributeHandle {
    guard let handle = valueHandle(of: uuid) else {
      preconditionFailure("the table has no characteristic \(uuid)")
    }
    return handle
  }

  /// Every attribute's handle and type, in order.
  public var listing: [AttributeInformation] {
    attributes.map { AttributeInformation(handle: $0.handle, type: $0.type) }
  }

  subscript(handle: AttributeHandle) -> Attribute? {
    index(of: handle).map { attributes[$0] }
  }

  /// Returns the attributes whose handles are in `range`.
  func attributes(in range: HandleRange) -> ArraySlice<Attribute> {
    let first = max(Int(range.first.rawValue) - 1, 0)
    let end = min(Int(range.last.rawValue), attributes.count)
    return first < end ? attributes[first..<end] : []
  }

  /// Replaces stored bytes; the caller has checked size and permission.
  mutating func store(_ bytes: [UInt8], in handle: AttributeHandle, sizeMaximum: Int) {
    guard let index = index(of: handle) else { preconditionFailure("no attribute \(handle)") }
    attributes[index].content = .value(.stored(bytes, sizeMaximum: sizeMaximum))
  }

  private func index(of handle: AttributeHandle) -> Int? {
    let index = Int(handle.rawValue) - 1
    return attributes.indices.contains(index) ? index : nil
  }
}

extension AttributeTable {
  private var nextHandle: AttributeHandle {
    precondition(attributes.count < Int(UInt16.max), "a table holds 65,535 attributes at most")
    return AttributeHandle(UInt16(attributes.count + 1))
  }

  private mutating func add(
    _ service: LocalService, after declarations: [Int], of services: [LocalService]
  ) {
    addDeclaration(
      service.isPrimary ? .primaryService : .secondaryService, service.uuid.littleEndian)
    for included in service.includes {
      precondition(declarations.indices.contains(included), "includes refer to earlier services")
      let declaration = attributes[declarations[included]]
      // A long UUID is omitted: the client reads it from the service's declaration (3.2).
      let short = services[included].uuid.short.map { BluetoothUUID($0).littleEndian } ?? []
      addDeclaration(
        .include,
        declaration.handle.littleEndian + declaration.groupEnd.littleEndian + short)
    }
    for characteristic in service.characteristics { add(characteristic) }
  }

  private mutating func addDeclaration(_ type: BluetoothUUID, _ bytes: [UInt8]) {
    add(type, .value(.fixed(bytes)))
  }

  private mutating func add(
    _ type: BluetoothUUID, _ content: Content, read: AttributePermission = .permitted([]),
    write: AttributePermission = .forbidden, ways: CharacteristicProperties = .write
  ) {
    let handle = nextHandle
    attributes.append(
      Attribute(
        handle: handle, type: type, read: read, write: write, writeWays: ways, content: content,
        groupEnd: handle))
  }

  private mutating func add(_ characteristic: LocalCharacteristic) {
    let declaration = nextHandle
    guard let value = declaration.next else { preconditionFailure("no handle is left") }
    let properties = characteristic.declaredProperties
    addDeclaration(
      .characteristic,
      [properties.rawValue] + value.littleEndian + characteristic.uuid.littleEndian)
    valueHandles[valueHandles.count - 1].append(value)
    add(
      characteristic.uuid, .value(characteristic.value), read: characteristic.readPermission,
      write: characteristic.writePermission,
      ways: properties.intersection([.write, .writeWithoutResponse]))
    addImpliedDescriptors(of: characteristic, value: value)
    for descriptor in characteristic.descriptors {
      add(
        descriptor.uuid, .value(descriptor.value), read: descriptor.readPermission,
        write: descriptor.writePermission)
    }
  }

  private mutating func addImpliedDescriptors(
    of characteristic: LocalCharacteristic, value: AttributeHandle
  ) {
    var permitted: ClientConfiguration = []
    if characteristic.properties.contains(.notify) { permitted.insert(.notification) }
    if characteristic.properties.contains(.indicate) { permitted.insert(.indication) }
    if !permitted.isEmpty {
      // The descriptor is always readable without security (3.3.3.3).
      add(
        .clientCharacteristicConfiguration,
        .clientConfiguration(of: value, permitted: permitted),
        write: .permitted(characteristic.security), ways: [.write, .writeWithoutResponse])
    }
    if characteristic.extendedProperties != 0 {
      let properties = characteristic.extendedProperties
      addDeclaration(
        .characteristicExtendedProperties,
        [UInt8(truncatingIfNeeded: properties), UInt8(properties >> 8)])
    }
    if let text = characteristic.userDescription {
      addDeclaration(.characteristicUserDescription, Array(text.utf8))
    }
  }
}

extension AttributeHandle {
  var littleEndian: [UInt8] { [UInt8(truncatingIfNeeded: rawValue), UInt8(rawValue >> 8)] }
}

extension BluetoothUUID {
  /// Characteristic Extended Properties descriptor (Core 5.4, Vol 3, Part G, 3.3.3.1).
  static let characteristicExtendedProperties = BluetoothUUID(0x2900)
  /// Characteristic User Description descriptor (Core 5.4, Vol 3, Part G, 3.3.3.2).
  static let characteristicUserDescription = BluetoothUUID(0x2901)
}
