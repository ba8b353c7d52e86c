/// A generator whose complete state is its seed (SplitMix64; Steele, Lea, Flood 2014), so that a
/// seed identifies a failing case. The tests have their own generator, for targets without the
/// simulation.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  /// Bytes with `kinds` different values; with 1 they are all zero.
  public mutating func bytes(_ count: Int, kinds: Int = 256) -> [UInt8] {
    (0..<count).map { _ in UInt8(Int.random(in: 0..<kinds, using: &self)) }
  }
}
