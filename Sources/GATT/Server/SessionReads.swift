import OtaflashATT

/// Discovery and reads (Core 5.4, Vol 3, Part F, 3.4.3 and 3.4.4). Lists contain as many entries of
/// one size as fit the MTU; the first entry determines the size.
extension ServerSession {
  func findInformation(
    _ range: HandleRange, in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    if let refusal = refusal(of: range) { return .failure(refusal) }
    let found = table.attributes(in: range)
    guard let first = found.first else {
      return .failure(Refusal(range.first, .attributeNotFound))
    }
    let uuidSize = first.type.littleEndian.count
    let room = (mtu.bytes - 2) / (2 + uuidSize)
    let entries = found.prefix(room).prefix { $0.type.littleEndian.count == uuidSize }
    return .success(
      .findInformation(entries.map { AttributeInformation(handle: $0.handle, type: $0.type) }))
  }

  func findByTypeValue(
    _ range: HandleRange, _ type: UInt16, _ value: [UInt8], in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    if let refusal = refusal(of: range) { return .failure(refusal) }
    let uuid = BluetoothUUID(type)
    let found = table.attributes(in: range)
      .filter { $0.type == uuid && self.value(of: $0, offset: 0) == .success(value) }
      .map { HandleRange($0.handle, $0.groupEnd) }
    guard !found.isEmpty else { return .failure(Refusal(range.first, .attributeNotFound)) }
    return .success(.findByTypeValue(Array(found.prefix((mtu.bytes - 1) / 4))))
  }

  func readByType(
    _ range: HandleRange, _ type: BluetoothUUID, in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    if let refusal = refusal(of: range) { return .failure(refusal) }
    return values(of: type, range, in: table, headerSize: 2).map { entries in
      .readByType(entries.map { AttributeData(handle: $0.attribute.handle, value: $0.bytes) })
    }
  }

  func readByGroupType(
    _ range: HandleRange, _ type: BluetoothUUID, in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    if let refusal = refusal(of: range) { return .failure(refusal) }
    guard type == .primaryService || type == .secondaryService else {
      return .failure(Refusal(range.first, .unsupportedGroupType))
    }
    return values(of: type, range, in: table, headerSize: 4).map { entries in
      .readByGroupType(
        entries.map {
          AttributeGroupData(
            handles: HandleRange($0.attribute.handle, $0.attribute.groupEnd), value: $0.bytes)
        })
    }
  }

  /// Returns the values of the attributes of one type, each preceded by `headerSize` bytes of
  /// handles. The list contains as many values as fit, all with the length of the first value. Only
  /// the first value can cause an error response (3.4.4.1).
  private func values(
    of type: BluetoothUUID, _ range: HandleRange, in table: AttributeTable, headerSize: Int
  ) -> Result<[(attribute: AttributeTable.Attribute, bytes: [UInt8])], Refusal> {
    // The list header has 2 bytes, and its Length field is at most 255.
    let sizeMaximum = min(mtu.bytes - 2, 255) - headerSize
    var entries: [(attribute: AttributeTable.Attribute, bytes: [UInt8])] = []
    var room = mtu.bytes - 2
    for attribute in table.attributes(in: range) where attribute.type == type {
      switch value(of: attribute, offset: 0) {
      case .failure(let refusal):
        return entries.isEmpty ? .failure(refusal) : .success(entries)
      case .success(let whole):
        let bytes = Array(whole.prefix(sizeMaximum))
        room -= headerSize + bytes.count
        let fits = entries.first.map { $0.bytes.count == bytes.count && room >= 0 } ?? true
        guard fits else { return .success(entries) }
        entries.append((attribute, bytes))
      }
    }
    return entries.isEmpty
      ? .failure(Refusal(range.first, .attributeNotFound)) : .success(entries)
  }

  /// Returns the part of a value from `offset` that fits one response.
  func part(
    of handle: AttributeHandle, from offset: Int, in table: AttributeTable
  ) -> Result<[UInt8], Refusal> {
    value(of: handle, offset: offset, in: table).flatMap { whole in
      guard offset <= whole.count else { return .failure(Refusal(handle, .invalidOffset)) }
      return .success(Array(whole.dropFirst(offset).prefix(mtu.bytes - 1)))
    }
  }

  func readMultiple(
    _ handles: [AttributeHandle], in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    values(of: handles, in: table).map { values in
      .readMultiple(values: Array(values.joined().prefix(mtu.bytes - 1)))
    }
  }

  /// Reads several values with their length fields. A value that does not fit completely is
  /// truncated; if not even its length field fits, the value is omitted (3.4.4.12).
  func readMultipleVariable(
    _ handles: [AttributeHandle], in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    values(of: handles, in: table).map { values in
      var room = mtu.bytes - 1
      var entries: [LengthValue] = []
      for value in values where room >= 2 {
        let cut = Array(value.prefix(room - 2))
        entries.append(LengthValue(length: UInt16(value.count), value: cut))
        room -= 2 + cut.count
      }
      return .readMultipleVariable(entries)
    }
  }

  private func values(
    of handles: [AttributeHandle], in table: AttributeTable
  ) -> Result<[[UInt8]], Refusal> {
    var values: [[UInt8]] = []
    for handle in handles {
      switch value(of: handle, offset: 0, in: table) {
      case .success(let value): values.append(value)
      case .failure(let refusal): return .failure(refusal)
      }
    }
    return .success(values)
  }

  private func value(
    of handle: AttributeHandle, offset: Int, in table: AttributeTable
  ) -> Result<[UInt8], Refusal> {
    guard let attribute = table[handle] else { return .failure(Refusal(handle, .invalidHandle)) }
    return value(of: attribute, offset: offset)
  }

  /// Returns the complete value, or the reason why this client may not read the value.
  private func value(
    of attribute: AttributeTable.Attribute, offset: Int
  ) -> Result<[UInt8], Refusal> {
    let handle = attribute.handle
    switch attribute.read {
    case .forbidden:
      return .failure(Refusal(handle, .readNotPermitted))
    case .permitted(let needed):
      if let code = security.refusal(of: needed) { return .failure(Refusal(handle, code)) }
    }
    switch attribute.content {
    case .clientConfiguration(let value, _):
      return .success(configuration(of: value).littleEndian)
    case .value(.stored(let bytes, _)):
      return .success(bytes)
    case .value(.dynamic(let read, _)):
      let result = results.result { read(context(offset: offset)) }
      return result.mapError { Refusal(handle, $0) }.map { Array($0.prefix(Self.valueSizeMaximum)) }
    case .value(.asynchronous(let read, _)):
      let context = context(offset: offset)
      let result = results.awaitedResult { await read(context) }
      return result.mapError { Refusal(handle, $0) }.map { Array($0.prefix(Self.valueSizeMaximum)) }
    }
  }

  /// Returns the refusal of handle 0 or of a reversed range (3.4.3.1); `nil` if the range is valid.
  private func refusal(of range: HandleRange) -> Refusal? {
    guard range.first != .none, range.first <= range.last else {
      return Refusal(range.first, .invalidHandle)
    }
    return nil
  }
}
