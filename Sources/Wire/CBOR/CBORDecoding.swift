extension CBORItem {
  /// Decodes one item that fills `bytes` (RFC 8949, 3). Lengths may be definite or indefinite, in
  /// any valid encoding. Tags are skipped, but their content is kept.
  ///
  /// - Throws: `CBORFault` if the input is not well-formed, has invalid UTF-8 or a repeated key, or
  ///   exceeds `limits`.
  package init(
    decoding bytes: ArraySlice<UInt8>, limits: CBORLimits = CBORLimits()
  ) throws(CBORFault) {
    var decoder = CBORDecoder(bytes, limits: limits)
    self = try decoder.item(depth: 0)
    try decoder.finish()
  }

  package init(
    decoding bytes: [UInt8], limits: CBORLimits = CBORLimits()
  ) throws(CBORFault) {
    try self.init(decoding: bytes[...], limits: limits)
  }
}

/// The limits for decoding one item. Lengths need no limit, because no memory is allocated for
/// missing bytes.
package struct CBORLimits: Equatable, Sendable {
  /// The maximum nesting of arrays and maps. The deepest SMP body, a list of slots, has five
  /// levels.
  package var depth = 12
  /// The maximum number of items, including tags and the chunks of strings.
  package var items = 4096

  package init() {}
}

/// The kinds of a data item (RFC 8949, 3.1).
enum CBORMajorType: UInt8 {
  case unsigned = 0
  case negative, bytes, text, array, map, tag, simpleOrFloat
}

private struct CBORDecoder {
  /// An item's initial byte and the argument that follows it (RFC 8949, 3).
  private struct Head {
    let type: CBORMajorType
    let information: UInt8
    /// The argument; `nil` for an indefinite length, or for a break.
    let argument: UInt64?
    let start: Int

    var isBreak: Bool { type == .simpleOrFloat && argument == nil }
  }

  private let bytes: ArraySlice<UInt8>
  private let limits: CBORLimits
  private var index: Int
  private var items = 0

  init(_ bytes: ArraySlice<UInt8>, limits: CBORLimits) {
    self.bytes = bytes
    self.limits = limits
    index = bytes.startIndex
  }

  private var remaining: Int { bytes.endIndex - index }

  private func fault(_ cause: CBORFault.Cause, at index: Int) -> CBORFault {
    CBORFault(cause, at: index - bytes.startIndex)
  }

  func finish() throws(CBORFault) {
    guard remaining == 0 else { throw fault(.trailingBytes(remaining), at: index) }
  }

  // MARK: Items

  mutating func item(depth: Int) throws(CBORFault) -> CBORItem {
    try item(try head(), depth: depth)
  }

  private mutating func item(_ first: Head, depth: Int) throws(CBORFault) -> CBORItem {
    var head = first
    while head.type == .tag {
      _ = try argument(of: head)
      head = try self.head()
    }
    switch head.type {
    case .unsigned: return .unsigned(try argument(of: head))
    case .negative: return .negative(try argument(of: head))
    case .bytes: return .bytes(Array(try bytes(head)))
    case .text: return .text(try text(head))
    case .array: return .array(try array(head, depth: depth + 1))
    case .map: return .map(try map(head, depth: depth + 1))
    case .simpleOrFloat: return try simpleOrFloat(head)
    case .tag: preconditionFailure("tags were skipped")
    }
  }

  private mutating func bytes(_ head: Head) throws(CBORFault) -> ArraySlice<UInt8> {
    guard head.argument == nil else { return try definiteString(head) }
    var whole: [UInt8] = []
    while let chunk = try chunk(of: head) { whole += try definiteString(chunk) }
    return whole[...]
  }

  private mutating func text(_ head: Head) throws(CBORFault) -> String {
    guard head.argument == nil else { return try definiteText(head) }
    var whole = ""
    while let chunk = try chunk(of: head) { whole += try definiteText(chunk) }
    return whole
  }

  private mutating func definiteText(_ head: Head) throws(CBORFault) -> String {
    guard let text = String(validating: try definiteString(head), as: UTF8.self) else {
      throw fault(.notUTF8, at: head.start)
    }
    return text
  }

  private mutating func definiteString(_ head: Head) throws(CBORFault) -> ArraySlice<UInt8> {
    try take(try argument(of: head), of: head.start)
  }

  /// Reads the head of the next chunk of an indefinite string; returns `nil` at the end of the
  /// string. Every chunk has a definite length.
  private mutating func chunk(of string: Head) throws(CBORFault) -> Head? {
    let part = try head()
    if part.isBreak { return nil }
    guard part.type == string.type, part.argument != nil else {
      throw fault(.wrongChunk, at: part.start)
    }
    return part
  }

  private mutating func array(_ head: Head, depth: Int) throws(CBORFault) -> [CBORItem] {
    try checkDepth(depth, head)
    var elements: [CBORItem] = []
    while let first = try element(elements.count, of: head) {
      elements.append(try item(first, depth: depth))
    }
    return elements
  }

  private mutating func map(_ head: Head, depth: Int) throws(CBORFault) -> CBORMap {
    try checkDepth(depth, head)
    var pairs: [CBORMap.Pair] = []
    var keys: Set<CBORItem> = []
    while let first = try element(pairs.count, of: head) {
      let key = try item(first, depth: depth)
      guard keys.insert(key).inserted else { throw fault(.duplicateKey, at: first.start) }
      pairs.append(CBORMap.Pair(key: key, value: try item(depth: depth)))
    }
    return CBORMap(pairs: pairs)
  }

  /// Reads the head of a container's next element or key; returns `nil` after the last element.
  private mutating func element(
    _ count: Int, of container: Head
  ) throws(CBORFault) -> Head? {
    if let expected = container.argument {
      return UInt64(count) < expected ? try head() : nil
    }
    let next = try head()
    return next.isBreak ? nil : next
  }

  private func checkDepth(_ depth: Int, _ head: Head) throws(CBORFault) {
    guard depth <= limits.depth else {
      throw fault(.tooDeep(limit: limits.depth), at: head.start)
    }
  }

  private func simpleOrFloat(_ head: Head) throws(CBORFault) -> CBORItem {
    guard let argument = head.argument else { throw fault(.unexpectedBreak, at: head.start) }
    switch head.information {
    case 20: return .boolean(false)
    case 21: return .boolean(true)
    case 22: return .null
    case 23: return .undefined
    case 24:
      let value = UInt8(truncatingIfNeeded: argument)
      guard value >= 32 else { throw fault(.reservedSimple(value), at: head.start) }
      return .simple(value)
    case 25: return .float(Double(halfPrecision: UInt16(truncatingIfNeeded: argument)))
    case 26: return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: argument))))
    case 27: return .float(Double(bitPattern: argument))
    default: return .simple(head.information)
    }
  }

  // MARK: Bytes

  private mutating func head() throws(CBORFault) -> Head {
    let start = index
    items += 1
    guard items <= limits.items else {
      throw fault(.tooManyItems(limit: limits.items), at: start)
    }
    let initial = try take(1, of: start)[start]
    guard let type = CBORMajorType(rawValue: initial >> 5) else {
      preconditionFailure("three bits have eight values")
    }
    let information = initial & 0x1F
    let argument: UInt64?
    switch information {
    case 0..<24: argument = UInt64(information)
    case 24...27:
      let field = try take(UInt64(1) << (information - 24), of: start)
      argument = field.reduce(0) { $0 << 8 | UInt64($1) }
    case 31 where type.mayBeIndefinite: argument = nil
    default: throw fault(.reservedLength(information), at: start)
    }
    return Head(type: type, information: information, argument: argument, start: start)
  }

  /// Returns the argument of an item. Throws if a break is in place of the item, because a break
  /// has no argument.
  private func argument(of head: Head) throws(CBORFault) -> UInt64 {
    guard let argument = head.argument else {
      throw fault(.reservedLength(head.information), at: head.start)
    }
    return argument
  }

  private mutating func take(
    _ count: UInt64, of start: Int
  ) throws(CBORFault) -> ArraySlice<UInt8> {
    guard count <= UInt64(remaining) else { throw fault(.endsEarly, at: start) }
    defer { index += Int(count) }
    return bytes[index..<index + Int(count)]
  }
}

extension CBORMajorType {
  /// Whether items of this type may have indefinite lengths; in the last major type, 31 is the
  /// break.
  fileprivate var mayBeIndefinite: Bool {
    switch self {
    case .bytes, .text, .array, .map, .simpleOrFloat: true
    case .unsigned, .negative, .tag: false
    }
  }
}
