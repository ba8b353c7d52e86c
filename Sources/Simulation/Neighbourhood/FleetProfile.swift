import OtaflashFirmware

/// A neighbourhood of many boards as a text names it: `sim-fleet:N?key=value&…`. Keys that are none
/// of the fleet's own are those of its boards, as in `sim:KIND?…`, and hold for all of them.
///
/// Everything of the n-th board follows from the text and n.
package struct FleetProfile: Hashable, Sendable {
  /// What is wrong with a board.
  package enum Fate: UInt8, CaseIterable, Sendable {
    case good
    /// It is not there.
    case away
    /// Its flash becomes busy for ever.
    case hangs
    /// It takes the new image back.
    case reverts
    /// It is never heard of again once it was told to start the image.
    case bricks

    var fault: Fault? {
      switch self {
      case .good, .away: nil
      case .hangs: .busyForever
      case .reverts: .reverts
      case .bricks: .neverReturns
      }
    }
  }

  /// One board of the fleet.
  package struct Board: Hashable, Sendable {
    /// `board-0001` and so on.
    package let id: String
    /// The name of its kind, such as `smp`.
    package let kind: String
    package let fate: Fate
    package let profile: SimulationProfile
  }

  package static let boardsMaximum = 100_000
  package static let adapters = 1...64
  /// What a fleet's text begins with.
  package static let prefix = "sim-fleet:"
  /// Adapters that hear a board where nothing is said.
  private static let usualHearing = 4

  package private(set) var boardCount: Int
  /// One of `adapters`; they are called `hci0` and so on.
  package var adapterCount = 1
  /// How many times as fast as a watch the fleet's clock goes, where a person waits.
  package internal(set) var speed = 1
  package internal(set) var seed: UInt64 = 1
  var hearingCount = FleetProfile.usualHearing
  var versions: Weighted<FirmwareVersion>?
  var shares: [Fate: Double] = [:]
  private var kinds: Weighted<SimulationProfile>
  /// By the boards' numbers.
  private var fates: [Fate] = []
}

// MARK: - Reading

extension FleetProfile {
  /// Every key of a fleet, with what its value must look like.
  package static let keys: [(key: String, allowed: String)] =
    FleetKey.allCases.map { ($0.rawValue, $0.allowedValues) }

  /// Reads `24?kinds=plain:6/smp:3&adapters=2&loss=1%`, with or without `sim-fleet:` before it.
  package init(parsing text: String) throws(ProfileFault) {
    let body = text.hasPrefix(Self.prefix) ? text.dropFirst(Self.prefix.count) : text[...]
    let parts = body.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let count = Quantity.count(String(parts[0])), count <= Self.boardsMaximum else {
      throw .valueNotAllowed(
        key: "the number of boards", value: String(parts[0]), allowed: "1 to \(Self.boardsMaximum)")
    }
    boardCount = count
    kinds = Weighted(always: SimulationProfile())
    let settings = parts.count == 2 ? parts[1].split(separator: "&") : []
    try setOwnKeys(settings)
    try setKinds(settings)
    try checkShares()
    fates = dealtFates()
  }

  private typealias Setting = (key: String, value: String?)

  private static func parts(of setting: Substring) -> Setting {
    let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
  }

  private mutating func setOwnKeys(_ settings: [Substring]) throws(ProfileFault) {
    var seen: Set<FleetKey> = []
    for setting in settings {
      let (text, value) = Self.parts(of: setting)
      guard let key = FleetKey(rawValue: text) else { continue }
      guard seen.insert(key).inserted else { throw .repeatedKey(key: text) }
      guard key == .kinds || value.map({ key.apply($0, to: &self) }) == true else {
        throw .valueNotAllowed(key: text, value: value ?? "", allowed: key.allowedValues)
      }
    }
  }

  private mutating func setKinds(_ settings: [Substring]) throws(ProfileFault) {
    var (names, rest) = (Weighted(always: "plain"), "")
    for setting in settings {
      let (text, value) = Self.parts(of: setting)
      switch FleetKey(rawValue: text) {
      case .kinds:
        guard let read = Weighted(value ?? "", { $0.isEmpty ? nil : $0 }) else {
          throw .valueNotAllowed(
            key: text, value: value ?? "", allowed: FleetKey.kinds.allowedValues)
        }
        names = read
      case nil: rest += "&" + setting
      default: break
      }
    }
    var profiles: [String: SimulationProfile] = [:]
    for name in names.entries.map(\.value) { profiles[name] = try Self.profile(of: name, rest) }
    kinds = names.map { profiles[$0] ?? SimulationProfile() }
  }

  /// A board of a kind; who names a key that nobody has is told of the fleet's, too.
  private static func profile(
    of kind: String, _ settings: String
  ) throws(ProfileFault) -> SimulationProfile {
    do throws(ProfileFault) {
      return try SimulationProfile(parsing: "\(kind)?\(settings)")
    } catch .unknownKey(let key, let allowed) {
      throw .unknownKey(key: key, allowed: keys.map(\.key) + allowed)
    } catch {
      throw error
    }
  }

  private func checkShares() throws(ProfileFault) {
    guard shares.values.reduce(0, +) <= 1 else {
      throw .valueNotAllowed(
        key: "away, hang, revert and brick", value: "more than 100%",
        allowed: "shares of one fleet, 100% together at most")
    }
  }

  /// So many boards of each fate as its share says, at least one, dealt by chance.
  private func dealtFates() -> [Fate] {
    var fates = [Fate](repeating: .good, count: boardCount)
    var dealt = 0
    for fate in Fate.allCases {
      guard let share = shares[fate], share > 0 else { continue }
      let wanted = max(1, Int((share * Double(boardCount)).rounded()))
      let end = min(dealt + wanted, boardCount)
      for index in dealt..<end { fates[index] = fate }
      dealt = end
    }
    var random = SeededRandom(seed: seed).forked(for: .max)
    fates.shuffle(using: &random)
    return fates
  }
}

// MARK: - Another fleet of the kind

extension FleetProfile {
  /// The same proportions of other boards.
  package func drawn(from seed: UInt64, boards count: Int? = nil) -> FleetProfile {
    var fleet = self
    fleet.seed = seed
    fleet.boardCount = count ?? boardCount
    fleet.fates = fleet.dealtFates()
    return fleet
  }

  /// Changes what all kinds of its boards are set to.
  package mutating func changeBoards(_ change: (inout BoardSettings) -> Void) {
    kinds = kinds.map { profile in
      var profile = profile
      change(&profile.settings)
      return profile
    }
  }

  /// The settings of its first kind, which stand for all where one figure is wanted.
  package var settings: BoardSettings { kinds[0].settings }
}

// MARK: - Boards

extension FleetProfile {
  /// The boards' ids, in their order.
  package var boards: some RandomAccessCollection<String> {
    (0..<boardCount).lazy.map { self.id(of: $0) }
  }

  private var digits: Int { max(4, String(boardCount).utf8.count) }

  package func id(of number: Int) -> String {
    let text = String(number + 1)
    return "board-" + String(repeating: "0", count: digits - text.utf8.count) + text
  }

  /// The number of a board, from 0; `nil` when it is none of this fleet.
  package func number(of id: String) -> Int? {
    guard id.hasPrefix("board-"), let number = Int(id.dropFirst(6)), (1...boardCount) ~= number,
      id == self.id(of: number - 1)
    else { return nil }
    return number - 1
  }

  func fate(of number: Int) -> Fate { fates[number] }

  /// A board by its number, from 0.
  package func board(_ number: Int) -> Board {
    var random = chance(of: number)
    var profile = kinds[number]
    let kind = profile.name
    profile.seed = seed << 20 | UInt64(number + 1)
    profile.settings.givenName = id(of: number)
    if let version = versions?.drawn(from: &random) { profile.settings.version = version }
    profile.settings.factorySeed = UInt64(profile.version.word)
    let fate = fates[number]
    if let fault = fate.fault { profile.settings.faults.add(fault, fault.usual) }
    return Board(id: id(of: number), kind: kind, fate: fate, profile: profile)
  }

  /// What is the board's alone.
  private func chance(of number: Int) -> SeededRandom {
    SeededRandom(seed: seed).forked(for: UInt64(number))
  }

  /// The adapters that hear a board by their numbers, each with the strength in dBm.
  package func hearing(of number: Int) -> [(adapter: Int, rssi: Int)] {
    var random = chance(of: number).forked(for: 1)
    let nearest = Int(random.next() % UInt64(adapterCount))
    var rssi = -45 - Int(random.next() % 30)
    return (0..<min(hearingCount, adapterCount)).map { step in
      if step > 0 { rssi -= 3 + Int(random.next() % 8) }
      return ((nearest + step) % adapterCount, rssi)
    }
  }
}

extension Weighted {
  fileprivate func map<Other>(_ transform: (Value) -> Other) -> Weighted<Other> {
    Weighted<Other>(entries: entries.map { (transform($0.value), $0.weight) })
  }
}
