import OtaflashFirmware

/// A generator whose complete state is its seed, so that a seed identifies a failing case.
package typealias SplitMix64 = OtaflashFirmware.SplitMix64

extension SplitMix64 {
  /// Returns bytes with values below `kinds`; if `kinds` is 1, all bytes are zero.
  package mutating func bytes(_ count: Int, kinds: Int = 256) -> [UInt8] {
    (0..<count).map { _ in UInt8(Int.random(in: 0..<kinds, using: &self)) }
  }
}
