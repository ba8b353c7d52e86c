import OtaflashFirmware

/// The keys of a fleet, in addition to the keys of its boards.
enum FleetKey: String, CaseIterable, Sendable {
  case kinds, versions, adapters, adaptersInRange = "hears", away, hang, revert, brick, seed, speed

  /// The description of the allowed values.
  var allowedValues: String {
    switch self {
    case .kinds: "kinds of boards with their weights, such as plain:6/smp:3/nordic-dfu:1"
    case .versions: "versions with their weights, such as 1.2.0:3/1.1.0:1"
    case .adapters: "the number of adapters, 1 to 64"
    case .adaptersInRange: "the number of adapters in range of a board, 1 or more"
    case .away: "the share of boards that are absent, such as 2%"
    case .hang: "the share of boards that hang while they write flash, such as 1%"
    case .revert: "the share of boards that revert the new image, such as 5%"
    case .brick: "the share of boards that never start again after activation, such as 1%"
    case .seed: "a decimal number"
    case .speed: "simulated seconds per second, 1 to 1000"
    }
  }

  /// Changes the setting; returns `false` if the value is not allowed.
  func apply(_ text: String, to fleet: inout FleetProfile) -> Bool {
    switch self {
    case .kinds: return false
    case .versions:
      guard let weighted = Weighted(text, FirmwareVersion.init) else { return false }
      fleet.versions = weighted
    case .adapters:
      return Self.set(&fleet.adapterCount, Quantity.count(text), in: FleetProfile.adapters)
    case .adaptersInRange:
      return Self.set(&fleet.hearingCount, Quantity.count(text), in: FleetProfile.adapters)
    case .away: return Self.set(&fleet.shares[.away], Quantity.share(text))
    case .hang: return Self.set(&fleet.shares[.hangs], Quantity.share(text))
    case .revert: return Self.set(&fleet.shares[.reverts], Quantity.share(text))
    case .brick: return Self.set(&fleet.shares[.bricks], Quantity.share(text))
    case .seed:
      guard let seed = UInt64(text) else { return false }
      fleet.seed = seed
    case .speed: return Self.set(&fleet.speed, Quantity.count(text), in: 1...1000)
    }
    return true
  }

  private static func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
    guard let value else { return false }
    field = value
    return true
  }

  private static func set(_ field: inout Int, _ value: Int?, in range: ClosedRange<Int>) -> Bool {
    guard let value, range.contains(value) else { return false }
    field = value
    return true
  }
}

/// Values with weights.
struct Weighted<Value: Hashable & Sendable>: Hashable, Sendable {
  private static var entriesMaximum: Int { 32 }
  private static var weightMaximum: Int { 1000 }

  let entries: [(value: Value, weight: Int)]
  private let total: Int

  /// - Parameter entries: one or more, with weights of 1 or more.
  init(entries: [(value: Value, weight: Int)]) {
    self.entries = entries
    total = entries.reduce(0) { $0 + $1.weight }
  }

  init(always value: Value) { self.init(entries: [(value, 1)]) }

  /// Parses `a:3/b`, in which `a` is three times as frequent as `b`; returns `nil` for other
  /// strings.
  init?(_ text: String, _ read: (String) -> Value?) {
    var entries: [(value: Value, weight: Int)] = []
    for part in text.split(separator: "/", omittingEmptySubsequences: false) {
      let words = part.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count <= 2, let value = read(String(words[0])),
        let weight = words.count == 2 ? Quantity.count(String(words[1])) : 1,
        weight <= Self.weightMaximum
      else { return nil }
      entries.append((value, weight))
    }
    guard !entries.isEmpty, entries.count <= Self.entriesMaximum else { return nil }
    self.init(entries: entries)
  }

  /// Returns the value at position 0, 1, 2, … of a sequence in which each value occurs as often as
  /// its weight.
  subscript(place: Int) -> Value {
    var rest = place % total
    for entry in entries {
      if rest < entry.weight { return entry.value }
      rest -= entry.weight
    }
    preconditionFailure("a place is below the sum of the weights")
  }

  /// Returns a random value.
  func drawn(from random: inout SeededRandom) -> Value {
    self[Int(random.next() % UInt64(total))]
  }

  static func == (left: Self, right: Self) -> Bool {
    left.entries.elementsEqual(right.entries) { $0.value == $1.value && $0.weight == $1.weight }
  }

  func hash(into hasher: inout Hasher) {
    for entry in entries {
      hasher.combine(entry.value)
      hasher.combine(entry.weight)
    }
  }
}
