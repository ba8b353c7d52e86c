/// A CBOR data item (RFC 8949, 2) of a kind that SMP bodies contain. There are no tags, because
/// decoding skips them.
package indirect enum CBORItem: Hashable, Sendable {
  case unsigned(UInt64)
  /// The number −1 − n, for the argument n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORItem])
  case map(CBORMap)
  case boolean(Bool)
  case null
  case undefined
  /// An unassigned simple value: 0…19 or 32…255.
  case simple(UInt8)
  case float(Double)

  package static func integer(_ value: Int) -> CBORItem {
    value >= 0 ? .unsigned(UInt64(value)) : .negative(~UInt64(bitPattern: Int64(value)))
  }
}

/// A map that keeps the order of its pairs. The keys are unique (RFC 8949, 5.6).
package struct CBORMap: Hashable, Sendable {
  package struct Pair: Hashable, Sendable {
    package let key: CBORItem
    package let value: CBORItem

    package init(key: CBORItem, value: CBORItem) {
      self.key = key
      self.value = value
    }
  }

  package let pairs: [Pair]

  /// - Parameter pairs: pairs with unique keys.
  package init(pairs: [Pair] = []) {
    precondition(Set(pairs.map(\.key)).count == pairs.count, "the keys of a map are unique")
    self.pairs = pairs
  }

  /// Creates a map from named fields; fields whose value is `nil` are omitted.
  package init(_ fields: KeyValuePairs<String, CBORItem?>) {
    self.init(
      pairs: fields.compactMap { field in
        field.value.map { Pair(key: .text(field.key), value: $0) }
      })
  }

  package subscript(name: String) -> CBORItem? {
    pairs.first { $0.key == .text(name) }?.value
  }
}
