import OtaflashFirmware

/// A generator whose complete state is its seed, so that a failing case is named by its seed.
package typealias SplitMix64 = OtaflashFirmware.SplitMix64

extension SplitMix64 {
  /// Bytes of which there are `kinds`; with 1 they are all zero.
  package mutating func bytes(_ count: Int, kinds: Int = 256) -> [UInt8] {
    (0..<count).map { _ in UInt8(Int.random(in: 0..<kinds, using: &self)) }
  }
}
