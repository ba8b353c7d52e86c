import OtaflashFirmware

/// The source of all randomness in a simulation, so that a seed repeats a run exactly.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  private var generator: SplitMix64

  /// Creates a generator; the same seed yields the same numbers.
  public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  public mutating func next() -> UInt64 { generator.next() }

  /// Returns true with the given probability, 0…1. Draws no number for 0, so that a run without
  /// losses does not depend on the number of calls.
  public mutating func happens(withProbability probability: Double) -> Bool {
    guard probability > 0 else { return false }
    return Double(next() >> 11) * 0x1p-53 < probability
  }

  /// Returns uniformly distributed random bytes.
  public mutating func bytes(count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) }
  }

  /// Creates a generator for one part of the simulation, so that the numbers drawn by this part do
  /// not affect the other parts.
  public func forked(for part: UInt64) -> SeededRandom {
    var fork = SeededRandom(seed: generator.state ^ (part &* 0xD6E8_FEB8_6659_FD93))
    return SeededRandom(seed: fork.next())
  }
}
