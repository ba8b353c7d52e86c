import OtaflashFirmware

/// All chance in a simulation comes from one of these, so a seed replays a run exactly.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var generator: SplitMix64

  /// The same seed gives the same numbers.
  public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  public mutating func next() -> UInt64 { generator.next() }

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
    var fork = SeededRandom(seed: generator.state ^ (part &* 0xD6E8_FEB8_6659_FD93))
    return SeededRandom(seed: fork.next())
  }
}
