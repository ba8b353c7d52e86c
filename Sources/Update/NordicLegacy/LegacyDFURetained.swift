/// What an update by legacy DFU retains from one connection to the next.
struct LegacyDFURetained: RetainedValue {
  var before = IdentityBefore()
  var losses = LegacyDFULosses()
}

/// Transfers that started again because the device had dropped packets.
struct LegacyDFULosses {
  /// Losses that require a slower pace.
  private(set) var dropped = 0
  /// Losses that may be due to packets before the device's flash was ready.
  private(set) var early = 0

  /// Counts a loss.
  ///
  /// - Parameter mayBeEarly: one loss counts as early before each of the others.
  mutating func count(mayBeEarly: Bool) {
    if mayBeEarly, early <= dropped {
      early += 1
    } else {
      dropped += 1
    }
  }
}
