import OtaflashATT

/// Immediate and prepared writes (Core 5.4, Vol 3, Part F, 3.4.5 and 3.4.6).
extension ServerSession {
  mutating func write(
    _ bytes: [UInt8], to handle: AttributeHandle, isCommand: Bool, in table: inout AttributeTable
  ) -> Result<[ServerEffect], Refusal> {
    switch writable(handle, isCommand ? .writeWithoutResponse : .write, in: table) {
    case .failure(let refusal):
      return .failure(refusal)
    case .success(let attribute):
      if let code = refusal(of: bytes, by: attribute.content) {
        return .failure(Refusal(handle, code))
      }
      return commit(bytes, to: attribute, isCommand: isCommand, in: &table)
    }
  }

  /// Queues a part. Offset and length are checked when the queue is executed (3.4.6.1).
  mutating func prepareWrite(
    _ part: [UInt8], to handle: AttributeHandle, at offset: UInt16, in table: AttributeTable
  ) -> Result<ATTResponse, Refusal> {
    if case .failure(let refusal) = writable(handle, .write, in: table) { return .failure(refusal) }
    guard preparedWrites.count < Self.preparedWritesMaximum else {
      return .failure(Refusal(handle, .prepareQueueFull))
    }
    preparedWrites.append(PreparedWrite(handle: handle, offset: Int(offset), part: part))
    return .success(.prepareWrite(handle, offset: offset, part: part))
  }

  /// Executes or cancels the queued writes; in both cases the queue is empty afterwards. Nothing is
  /// written unless every part fits its attribute. If a handler refuses, the remaining values are
  /// not written; stored values are unchanged.
  mutating func executeWrite(
    _ flags: ExecuteWriteFlags, in table: inout AttributeTable
  ) -> Result<[ServerEffect], Refusal> {
    let queue = preparedWrites
    preparedWrites = []
    switch flags {
    case .cancel:
      return .success([])
    case .commit:
      switch assemble(queue, in: table) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let values): return commit(values, in: &table)
      }
    }
  }

  private typealias WholeValue = (attribute: AttributeTable.Attribute, bytes: [UInt8])

  /// Assembles the parts of each value, in the order in which the attributes were first written to.
  private func assemble(
    _ queue: [PreparedWrite], in table: AttributeTable
  ) -> Result<[WholeValue], Refusal> {
    var values: [WholeValue] = []
    for prepared in queue {
      var position = values.firstIndex { $0.attribute.handle == prepared.handle }
      if position == nil {
        // Permission may have changed since the part was queued.
        switch writable(prepared.handle, .write, in: table) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let attribute): values.append((attribute, base(of: attribute)))
        }
        position = values.count - 1
      }
      guard let position else { preconditionFailure("the value was found or added") }
      if let code = overlay(prepared, on: &values[position].bytes) {
        return .failure(Refusal(prepared.handle, code))
      }
    }
    for value in values {
      if let code = refusal(of: value.bytes, by: value.attribute.content) {
        return .failure(Refusal(value.attribute.handle, code))
      }
    }
    return .success(values)
  }

  /// Returns the value that the parts overwrite. This is the current value if the table stores it;
  /// the value of a handler is initially empty, so its parts must start at 0.
  private func base(of attribute: AttributeTable.Attribute) -> [UInt8] {
    switch attribute.content {
    case .value(.stored(let bytes, _)): bytes
    case .value(.dynamic), .value(.asynchronous): []
    case .clientConfiguration(let value, _): configuration(of: value).littleEndian
    }
  }

  private func overlay(_ prepared: PreparedWrite, on bytes: inout [UInt8]) -> ATTErrorCode? {
    guard prepared.offset <= bytes.count else { return .invalidOffset }
    let end = prepared.offset + prepared.part.count
    guard end <= Self.valueSizeMaximum else { return .invalidAttributeValueLength }
    bytes.replaceSubrange(prepared.offset..<min(end, bytes.count), with: prepared.part)
    return nil
  }

  private mutating func commit(
    _ values: [WholeValue], in table: inout AttributeTable
  ) -> Result<[ServerEffect], Refusal> {
    var effects: [ServerEffect] = []
    // Handlers are called before the table is changed: a handler may still refuse, but a change of
    // the table cannot fail.
    let (own, handled) = (values.filter(\.attribute.isKept), values.filter { !$0.attribute.isKept })
    for value in handled + own {
      switch commit(value.bytes, to: value.attribute, isCommand: false, in: &table) {
      case .success(let more): effects += more
      case .failure(let refusal): return .failure(refusal)
      }
    }
    return .success(effects)
  }

  private mutating func commit(
    _ bytes: [UInt8], to attribute: AttributeTable.Attribute, isCommand: Bool,
    in table: inout AttributeTable
  ) -> Result<[ServerEffect], Refusal> {
    switch attribute.content {
    case .clientConfiguration(let value, _):
      let bits = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
      return .success(configure(value, ClientConfiguration(rawValue: bits)))
    case .value(.stored(_, let sizeMaximum)):
      table.store(bytes, in: attribute.handle, sizeMaximum: sizeMaximum)
      return .success([])
    case .value(.dynamic(_, let write)):
      let context = context(isCommand: isCommand)
      let result = results.result { .written(write(bytes, context)) }
      return result.map { _ in [] }.mapError { Refusal(attribute.handle, $0) }
    case .value(.asynchronous(_, let write)):
      let context = context(isCommand: isCommand)
      let result = results.awaitedResult { .written(await write(bytes, context)) }
      return result.map { _ in [] }.mapError { Refusal(attribute.handle, $0) }
    }
  }

  /// Returns the attribute, or the reason why this client may not write the attribute with this
  /// procedure.
  private func writable(
    _ handle: AttributeHandle, _ way: CharacteristicProperties, in table: AttributeTable
  ) -> Result<AttributeTable.Attribute, Refusal> {
    guard let attribute = table[handle] else { return .failure(Refusal(handle, .invalidHandle)) }
    guard case .permitted(let needed) = attribute.write, attribute.writeWays.contains(way) else {
      return .failure(Refusal(handle, .writeNotPermitted))
    }
    if let code = security.refusal(of: needed) { return .failure(Refusal(handle, code)) }
    return .success(attribute)
  }

  /// Returns the reason why an attribute in the table cannot store these bytes; `nil` if it can.
  private func refusal(
    of bytes: [UInt8], by content: AttributeTable.Content
  ) -> ATTErrorCode? {
    switch content {
    case .clientConfiguration(_, let permitted):
      guard bytes.count == 2 else { return .invalidAttributeValueLength }
      let bits = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
      return permitted.isSuperset(of: ClientConfiguration(rawValue: bits)) ? nil : .valueNotAllowed
    case .value(.stored(_, let sizeMaximum)):
      return bytes.count <= sizeMaximum ? nil : .invalidAttributeValueLength
    case .value(.dynamic), .value(.asynchronous):
      return nil
    }
  }
}

extension AttributeTable.Attribute {
  /// Whether the server stores the value, so that a checked write cannot fail.
  fileprivate var isKept: Bool {
    switch content {
    case .value(.dynamic), .value(.asynchronous): false
    case .value(.stored), .clientConfiguration: true
    }
  }
}
