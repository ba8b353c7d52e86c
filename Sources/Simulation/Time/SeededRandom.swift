/// SplitMix64 (Steele, Lea, Flood 2014): all chance in a simulation comes from one of these, so a
/// seed replays a run exactly.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The same seed gives the same numbers.
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True with the given probability, 0…1. Draws nothing for 0, so that a run without losses does
  /// not depend on how often it asked.
  public mutating func happens(withProbability probability: Double) -> Bool {
    guard probability > 0 else { return false }
    return Double(next() >> 11) * 0x1p-53 < probability
  }

  /// So many bytes, each as likely.
  public mutating func bytes(count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) }
  }

  /// A generator for a part of the simulation, so that parts do not disturb each other's draws.
  public func forked(for part: UInt64) -> SeededRandom {
    var fork = SeededRandom(seed: state ^ (part &* 0xD6E8_FEB8_6659_FD93))
    return SeededRandom(seed: fork.next())
  }
}
