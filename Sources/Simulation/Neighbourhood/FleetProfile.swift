import OtaflashFirmware

/// A fleet of many boards, parsed from `sim-fleet:N?key=value&…`. Keys that are not keys of the
/// fleet apply to all of its boards, as in `sim:KIND?…`.
///
/// The string and the number n determine the n-th board completely.
package struct FleetProfile: Hashable, Sendable {
  /// The defect of a board.
  package enum Fate: UInt8, CaseIterable, Sendable {
    case good
    /// The board is absent.
    case away
    /// The flash of the board becomes busy permanently.
    case hangs
    /// The board reverts the new image.
    case reverts
    /// The board never advertises again after the activation.
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
    /// The id of the board, such as `board-0001`.
    package let id: String
    /// The name of the kind of the board, such as `smp`.
    package let kind: String
    package let fate: Fate
    package let profile: SimulationProfile
  }

  package static let boardsMaximum = 100_000
  package static let adapters = 1...64
  /// The prefix of a fleet's string.
  package static let prefix = "sim-fleet:"
  /// The default number of adapters that reach a board.
  private static let usualHearing = 4

  package private(set) var boardCount: Int
  /// The number of adapters; their names are `hci0` and so on.
  package var adapterCount = 1
  /// The speed of the fleet's clock relative to real time, for interactive runs.
  package internal(set) var speed = 1
  package internal(set) var seed: UInt64 = 1
  var hearingCount = FleetProfile.usualHearing
  var versions: Weighted<FirmwareVersion>?
  var shares: [Fate: Double] = [:]
  private var kinds: Weighted<SimulationProfile>
  /// The fates of the boards; the index is the number of the board.
  private var fates: [Fate] = []
}

// MARK: - Reading

extension FleetProfile {
  /// The keys of a fleet, with the descriptions of their allowed values.
  package static let keys: [(key: String, allowed: String)] =
    FleetKey.allCases.map { ($0.rawValue, $0.allowedValues) }

  /// Parses `24?kinds=plain:6/smp:3&adapters=2&loss=1%`, with or without the prefix `sim-fleet:`.
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

  /// Returns the profile of a kind. The error for an unknown key lists the fleet's keys as well.
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
        allowed: "shares with a sum of at most 100%")
    }
  }

  /// Returns the fates of all boards, shuffled. Each share above 0 affects at least one board, as
  /// long as the earlier shares leave a board.
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

// MARK: - Derived fleets

extension FleetProfile {
  /// Returns a fleet with the same proportions and other boards.
  package func drawn(from seed: UInt64, boards count: Int? = nil) -> FleetProfile {
    var fleet = self
    fleet.seed = seed
    fleet.boardCount = count ?? boardCount
    fleet.fates = fleet.dealtFates()
    return fleet
  }

  /// Changes the settings of every kind of board in the fleet.
  package mutating func changeBoards(_ change: (inout BoardSettings) -> Void) {
    kinds = kinds.map { profile in
      var profile = profile
      change(&profile.settings)
      return profile
    }
  }

  /// The settings of the fleet's first kind, for uses that need one value for all kinds.
  package var settings: BoardSettings { kinds[0].settings }
}

// MARK: - Boards

extension FleetProfile {
  /// The boards' ids, in order.
  package var boards: some RandomAccessCollection<String> {
    (0..<boardCount).lazy.map { self.id(of: $0) }
  }

  private var digits: Int { max(4, String(boardCount).utf8.count) }

  package func id(of number: Int) -> String {
    let text = String(number + 1)
    return "board-" + String(repeating: "0", count: digits - text.utf8.count) + text
  }

  /// Returns the number of a board, from 0; `nil` if the fleet has no board with this id.
  package func number(of id: String) -> Int? {
    guard id.hasPrefix("board-"), let number = Int(id.dropFirst(6)), (1...boardCount) ~= number,
      id == self.id(of: number - 1)
    else { return nil }
    return number - 1
  }

  func fate(of number: Int) -> Fate { fates[number] }

  /// Returns a board by its number, from 0.
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

  /// Returns the random generator of one board.
  private func chance(of number: Int) -> SeededRandom {
    SeededRandom(seed: seed).forked(for: UInt64(number))
  }

  /// Returns the numbers of the adapters that reach a board, each with the signal strength in dBm.
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
