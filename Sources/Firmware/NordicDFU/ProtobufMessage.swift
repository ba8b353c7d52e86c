/// The fields of a protocol-buffers message (Protocol Buffers, Encoding), without their meaning.
/// The signature covers the bytes as sent, so messages are never decoded and encoded again.
struct ProtobufMessage {
  enum Value {
    case varint(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A field of fixed size; no known field uses this type.
    case fixed
  }

  struct Field {
    let number: UInt64
    let value: Value
    /// The offset of the field's key in the outermost message.
    let offset: Int
  }

  /// The maximum number of fields; the messages of an init packet have fewer.
  static let fieldMaximum = 64

  let fields: [Field]
  /// The offset of this message in the outermost message.
  let offset: Int

  /// Decodes all fields; the slice's indices are offsets in the outermost message.
  init(decoding bytes: ArraySlice<UInt8>) throws(InitPacketFault) {
    var rest = bytes
    var fields: [Field] = []
    while !rest.isEmpty {
      let offset = rest.startIndex
      guard fields.count < Self.fieldMaximum else {
        throw .notProtobuf(offset: offset, "more than \(Self.fieldMaximum) fields")
      }
      let key = try Self.varint(&rest)
      guard key >> 3 > 0, key >> 3 < 1 << 29 else {
        throw .notProtobuf(offset: offset, "the field number \(key >> 3) is not possible")
      }
      let value = try Self.value(wireType: key & 7, &rest, offset: offset)
      fields.append(Field(number: key >> 3, value: value, offset: offset))
    }
    self.fields = fields
    offset = bytes.startIndex
  }

  private static func value(
    wireType: UInt64, _ rest: inout ArraySlice<UInt8>, offset: Int
  ) throws(InitPacketFault) -> Value {
    switch wireType {
    case 0: return .varint(try varint(&rest))
    case 1, 5:
      let size = wireType == 1 ? 8 : 4
      guard rest.count >= size else { throw .notProtobuf(offset: offset, "the field is truncated") }
      rest = rest.dropFirst(size)
      return .fixed
    case 2:
      let length = try varint(&rest)
      guard length <= UInt64(rest.count) else {
        throw .notProtobuf(
          offset: offset, "the field has \(length) bytes, only \(rest.count) are left")
      }
      defer { rest = rest.dropFirst(Int(length)) }
      return .bytes(rest.prefix(Int(length)))
    default: throw .notProtobuf(offset: offset, "wire type \(wireType) is not used")
    }
  }

  /// Decodes a number of at most ten bytes with seven bits each; numbers above 64 bits are
  /// rejected, not truncated.
  static func varint(_ rest: inout ArraySlice<UInt8>) throws(InitPacketFault) -> UInt64 {
    let offset = rest.startIndex
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else {
        throw .notProtobuf(offset: offset, "a number is truncated")
      }
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw .notProtobuf(offset: offset, "a number has more than 64 bits")
  }
}

extension ProtobufMessage {
  /// Returns the only field with this number; `nil` if the field is absent. Duplicates are
  /// rejected, because readers do not agree on which field to use.
  private func single(_ number: UInt64, _ name: String) throws(InitPacketFault) -> Field? {
    let found = fields.filter { $0.number == number }
    guard found.count < 2 else { throw .field(name, offset: found[1].offset, "occurs twice") }
    return found.first
  }

  func number(_ number: UInt64, _ name: String) throws(InitPacketFault) -> UInt64? {
    guard let field = try single(number, name) else { return nil }
    guard case .varint(let value) = field.value else {
      throw .field(name, offset: field.offset, "is not a number")
    }
    return value
  }

  func number32(_ number: UInt64, _ name: String) throws(InitPacketFault) -> UInt32? {
    guard let value = try self.number(number, name) else { return nil }
    guard let small = UInt32(exactly: value) else {
      throw .value(name, value, offset: fieldOffset(number))
    }
    return small
  }

  /// Returns a number that is a case of an enumeration; `nil` if the field is absent.
  func choice<Choice: RawRepresentable<UInt64>>(
    _ number: UInt64, _ name: String, as _: Choice.Type = Choice.self
  ) throws(InitPacketFault) -> Choice? {
    guard let value = try self.number(number, name) else { return nil }
    guard let choice = Choice(rawValue: value) else {
      throw .value(name, value, offset: fieldOffset(number))
    }
    return choice
  }

  func bytes(_ number: UInt64, _ name: String) throws(InitPacketFault) -> ArraySlice<UInt8>? {
    guard let field = try single(number, name) else { return nil }
    guard case .bytes(let bytes) = field.value else {
      throw .field(name, offset: field.offset, "is not a byte string")
    }
    return bytes
  }

  func required<Value>(_ value: Value?, _ name: String) throws(InitPacketFault) -> Value {
    guard let value else { throw .field(name, offset: offset, "is missing") }
    return value
  }

  private func fieldOffset(_ number: UInt64) -> Int {
    fields.first { $0.number == number }?.offset ?? offset
  }
}
