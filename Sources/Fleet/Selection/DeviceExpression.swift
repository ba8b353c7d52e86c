import OtaflashFirmware

/// A selection of devices by their facts: `board=door and version<1.3.0 and not tag:lab`.
///
/// A comparison with an unknown fact is undecided (Kleene's three-valued logic): `version<1.3.0`
/// for a device with unknown version is neither true nor false, and `not` does not change that.
package indirect enum DeviceExpression: Hashable, Sendable {
  case compare(Fact, Relation, Operand)
  case tag(String)
  case not(DeviceExpression)
  case and(DeviceExpression, DeviceExpression)
  case or(DeviceExpression, DeviceExpression)

  /// A fact of a device.
  package enum Fact: String, Hashable, Sendable, CaseIterable {
    case id, name, board, site, version, rssi
  }

  package enum Relation: String, Hashable, Sendable, CaseIterable {
    case equal = "="
    case different = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// The text matches a pattern in which `*` matches any characters.
    case like = "~"

    var ordersValues: Bool {
      switch self {
      case .less, .lessOrEqual, .greater, .greaterOrEqual: true
      case .equal, .different, .like: false
      }
    }
  }

  package enum Operand: Hashable, Sendable {
    case text(String)
    case version(FirmwareVersion)
    case number(Int)
  }

  /// A truth value. `and` is the minimum and `or` the maximum in this order.
  package enum Truth: Hashable, Comparable, Sendable {
    case no, undecided, yes

    init(_ isTrue: Bool) { self = isTrue ? .yes : .no }
  }

  package func truth(of device: FleetDevice) -> Truth {
    switch self {
    case .tag(let tag): return Truth(device.tags.contains(tag))
    case .not(let inner):
      switch inner.truth(of: device) {
      case .yes: return .no
      case .no: return .yes
      case .undecided: return .undecided
      }
    case .and(let left, let right):
      let first = left.truth(of: device)
      return first == .no ? .no : min(first, right.truth(of: device))
    case .or(let left, let right):
      let first = left.truth(of: device)
      return first == .yes ? .yes : max(first, right.truth(of: device))
    case .compare(let fact, let relation, let operand):
      guard let holds = Self.holds(fact, relation, operand, of: device) else { return .undecided }
      return Truth(holds)
    }
  }

  /// Returns the expression with `map` applied to the ids in comparisons, except in patterns.
  func mappingIDs(_ map: (String) -> String) -> DeviceExpression {
    switch self {
    case .compare(.id, let relation, .text(let id)) where relation != .like:
      .compare(.id, relation, .text(map(id)))
    case .compare, .tag: self
    case .not(let inner): .not(inner.mappingIDs(map))
    case .and(let left, let right): .and(left.mappingIDs(map), right.mappingIDs(map))
    case .or(let left, let right): .or(left.mappingIDs(map), right.mappingIDs(map))
    }
  }

  /// The facts in the expression, each once, in the order of `Fact`.
  package var facts: [Fact] { Fact.allCases.filter(asked.contains) }

  private var asked: Set<Fact> {
    switch self {
    case .compare(let fact, _, _): [fact]
    case .tag: []
    case .not(let inner): inner.asked
    case .and(let left, let right), .or(let left, let right): left.asked.union(right.asked)
    }
  }

  /// Returns whether a comparison is true for a device; `nil` = the fact is not known.
  private static func holds(
    _ fact: Fact, _ relation: Relation, _ operand: Operand, of device: FleetDevice
  ) -> Bool? {
    switch operand {
    case .version(let version): device.version.map { relation.holds($0, version) }
    case .number(let number): device.rssi.map { relation.holds($0, number) }
    case .text(let id) where fact == .id && relation != .like:
      relation.holds(device.identity, FleetDevice.identity(of: id))
    case .text(let text): fact.text(of: device).map { relation.holds($0, text) }
    }
  }
}

extension DeviceExpression.Fact {
  fileprivate func text(of device: FleetDevice) -> String? {
    switch self {
    case .id: device.id
    case .name: device.name
    case .board: device.board
    case .site: device.site
    case .version: device.version?.description
    case .rssi: device.rssi.map(String.init)
    }
  }
}

extension DeviceExpression.Relation {
  fileprivate func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .equal: left == right
    case .different: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    case .like: preconditionFailure("the parser accepts patterns only for texts")
    }
  }

  fileprivate func holds(_ left: String, _ right: String) -> Bool {
    self == .like ? Wildcard.matches(left, pattern: right) : holdsInOrder(left, right)
  }

  private func holdsInOrder(_ left: String, _ right: String) -> Bool {
    switch self {
    case .equal: left == right
    case .different: left != right
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .like:
      preconditionFailure("the parser accepts an order only for versions and numbers")
    }
  }
}

/// Patterns in which `*` matches any number of characters.
package enum Wildcard {
  /// Returns whether a text matches a pattern. The time is at most proportional to the product of
  /// the lengths, because only the last `*` is retried.
  package static func matches(_ text: String, pattern: String) -> Bool {
    let (text, pattern) = (Array(text.unicodeScalars), Array(pattern.unicodeScalars))
    var (place, wanted) = (0, 0)
    var retry: (place: Int, wanted: Int)?
    while place < text.count {
      if wanted < pattern.count, pattern[wanted] == "*" {
        retry = (place, wanted)
        wanted += 1
      } else if wanted < pattern.count, pattern[wanted] == text[place] {
        place += 1
        wanted += 1
      } else if let last = retry {
        retry = (last.place + 1, last.wanted)
        (place, wanted) = (last.place + 1, last.wanted + 1)
      } else {
        return false
      }
    }
    return pattern[wanted...].allSatisfy { $0 == "*" }
  }
}
