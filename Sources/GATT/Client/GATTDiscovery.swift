import OtaflashATT

extension GATTClient {
  /// The minimum number of attributes of a characteristic: its declaration and its value (Core 5.4,
  /// Vol 3, Part G, 3.3). If fewer handles are left, no request is needed.
  private static let characteristicAttributes = 2

  /// Returns all primary services in the order of their handles (Core 5.4, Vol 3, Part G, 4.4.1).
  public func services() async throws(GATTFault) -> [DiscoveredService] {
    dropStaleCache()
    if let known = cache.withLock({ $0.services }) { return known }
    report(.discoveringServices)
    let found = try await reportingFailure { () async throws(GATTFault) in
      try await findServices()
    }
    cache.withLock { cache in
      cache.services = found
      guard followsServiceChanges else { return }
      cache.unwatched = found.first { $0.uuid == .genericAttribute && $0.hasRoom }
    }
    report(.servicesFound)
    bearer.upkeep.offer(())
    return found
  }

  private func findServices() async throws(GATTFault) -> [DiscoveredService] {
    var found: [DiscoveredService] = []
    var start: AttributeHandle? = .first
    while let first = start {
      let request = ATTRequest.readByGroupType(
        HandleRange(first, .last), groupType: .primaryService)
      guard let response = try await untilNotFound(request) else { break }
      guard case .readByGroupType(let groups) = response else { throw .mismatched(response) }
      for group in groups {
        guard let uuid = BluetoothUUID(littleEndian: group.value) else {
          throw .violation("a service declaration has \(group.value.count) bytes, not 2 or 16")
        }
        found.append(DiscoveredService(uuid: uuid, handles: group.handles))
      }
      start = try advance(from: first, past: groups.last?.handles.last)
    }
    return found
  }

  /// Returns the services with this UUID; several services may have the same UUID.
  public func services(_ uuid: BluetoothUUID) async throws(GATTFault) -> [DiscoveredService] {
    try await services().filter { $0.uuid == uuid }
  }

  /// Returns all characteristics of a service (4.6.1).
  public func characteristics(
    of service: DiscoveredService
  ) async throws(GATTFault) -> [DiscoveredCharacteristic] {
    try await reportingFailure { () async throws(GATTFault) in
      try await findCharacteristics(of: service)
    }
  }

  func findCharacteristics(
    of service: DiscoveredService
  ) async throws(GATTFault) -> [DiscoveredCharacteristic] {
    dropStaleCache()
    if let known = cache.withLock({ $0.characteristics[service.handles] }) { return known }
    let declarations = try await declarations(in: service.handles)
    var found: [DiscoveredCharacteristic] = []
    for (index, entry) in declarations.enumerated() {
      let last =
        index + 1 < declarations.count
        ? AttributeHandle(declarations[index + 1].handle.rawValue - 1) : service.handles.last
      guard entry.declaration.value > entry.handle, entry.declaration.value <= last else {
        throw .violation("a characteristic's value handle is outside the characteristic")
      }
      found.append(
        DiscoveredCharacteristic(
          uuid: entry.declaration.uuid, properties: entry.declaration.properties,
          declaration: entry.handle, value: entry.declaration.value, last: last))
    }
    let result = found
    cache.withLock { $0.characteristics[service.handles] = result }
    return result
  }

  private func declarations(
    in range: HandleRange
  ) async throws(GATTFault) -> [(handle: AttributeHandle, declaration: CharacteristicDeclaration)] {
    var found: [(handle: AttributeHandle, declaration: CharacteristicDeclaration)] = []
    var start: AttributeHandle? = range.first
    // `first` is not the handle of a characteristic declaration: it is the handle of the service's
    // declaration, or of the value of the last characteristic found.
    while let first = start,
      Int(first.rawValue) + Self.characteristicAttributes <= Int(range.last.rawValue)
    {
      let request = ATTRequest.readByType(HandleRange(first, range.last), type: .characteristic)
      guard let response = try await untilNotFound(request) else { break }
      guard case .readByType(let entries) = response else { throw .mismatched(response) }
      for entry in entries {
        guard range.contains(entry.handle), entry.handle > found.last?.handle ?? .none else {
          throw .violation("a discovery response has the handle \(entry.handle) out of order")
        }
        found.append((entry.handle, try CharacteristicDeclaration(decoding: entry.value)))
      }
      start = try advance(from: first, past: entries.last?.handle)
    }
    return found
  }

  /// Returns the first characteristic with the UUID `uuid`, from the first service with the UUID
  /// `service` that contains such a characteristic. Runs discovery if needed.
  ///
  /// - Throws: `.notFound` with the missing UUID.
  public func characteristic(
    _ uuid: BluetoothUUID, in service: BluetoothUUID
  ) async throws(GATTFault) -> DiscoveredCharacteristic {
    try await characteristics([uuid], in: service)[0]
  }

  /// Returns the characteristics with these UUIDs, in this order. Runs discovery if needed. All
  /// characteristics belong to the first service with this UUID that contains all of them. A server
  /// may have several services with the same UUID, and related characteristics are in the same
  /// service.
  ///
  /// - Throws: `.notFound` with the UUID of the service, or with the first UUID that is missing in
  ///   the first service with the service UUID.
  public func characteristics(
    _ uuids: [BluetoothUUID], in service: BluetoothUUID
  ) async throws(GATTFault) -> [DiscoveredCharacteristic] {
    var missing: BluetoothUUID?
    for candidate in try await services(service) {
      let all = try await characteristics(of: candidate)
      let found = uuids.compactMap { uuid in all.first { $0.uuid == uuid } }
      if found.count == uuids.count { return found }
      missing = missing ?? uuids.first { uuid in !all.contains { $0.uuid == uuid } }
    }
    throw .notFound(missing ?? service)
  }

  /// Returns the descriptors after a characteristic's value (4.7.1).
  public func descriptors(
    of characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) -> [AttributeInformation] {
    try await reportingFailure { () async throws(GATTFault) in
      try await findDescriptors(of: characteristic)
    }
  }

  func findDescriptors(
    of characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) -> [AttributeInformation] {
    dropStaleCache()
    if let known = cache.withLock({ $0.descriptors[characteristic.value] }) { return known }
    var found: [AttributeInformation] = []
    var start = characteristic.value.next
    while let first = start, first <= characteristic.last {
      let request = ATTRequest.findInformation(HandleRange(first, characteristic.last))
      guard let response = try await untilNotFound(request) else { break }
      guard case .findInformation(let entries) = response else { throw .mismatched(response) }
      found += entries
      start = try advance(from: first, past: entries.last?.handle)
    }
    cache.withLock { [found] in $0.descriptors[characteristic.value] = found }
    return found
  }

  /// Drops the results of discovery; the next procedure queries the server again.
  public func forgetAttributes() { cache.withLock { $0 = Cache(changesSeen: $0.changesSeen) } }

  // MARK: Helpers of the procedures

  /// Sends a discovery request; returns `nil` for Attribute Not Found, the normal end of a
  /// discovery (4.4.1).
  private func untilNotFound(_ request: ATTRequest) async throws(GATTFault) -> ATTResponse? {
    do throws(GATTFault) {
      return try await bearer.request(request)
    } catch .refused(_, .attributeNotFound) {
      return nil
    }
  }

  /// Returns the start of the next step; `nil` at the end. Throws if a server repeats earlier
  /// handles, which would otherwise cause an endless discovery.
  private func advance(
    from first: AttributeHandle, past last: AttributeHandle?
  ) throws(GATTFault) -> AttributeHandle? {
    guard let last, last >= first else {
      throw .violation("discovery does not advance beyond handle \(first)")
    }
    return last.next
  }

  private func dropStaleCache() {
    let changes = bearer.attributesChanged
    cache.withLock { if $0.changesSeen != changes { $0 = Cache(changesSeen: changes) } }
  }

  private func reportingFailure<Found>(
    _ procedure: () async throws(GATTFault) -> Found
  ) async throws(GATTFault) -> Found {
    do throws(GATTFault) {
      return try await procedure()
    } catch {
      reportFailure(.discoveryFailed(error))
      throw error
    }
  }
}

extension DiscoveredService {
  /// Whether the service has enough handles for a characteristic after its declaration.
  fileprivate var hasRoom: Bool { handles.last.rawValue >= handles.first.rawValue + 2 }
}
