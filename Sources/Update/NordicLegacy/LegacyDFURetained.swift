/// The state that an update over legacy DFU retains from one connection to the next.
struct LegacyDFURetained: RetainedValue {
  var before = IdentityBefore()
  var losses = LegacyDFULosses()
}

/// The numbers of transfers that were restarted because the device had dropped packets.
struct LegacyDFULosses {
  /// The number of losses that require a slower pace.
  private(set) var dropped = 0
  /// The number of losses that may be caused by packets sent before the device's flash was ready.
  private(set) var early = 0

  /// Counts a loss.
  ///
  /// - Parameter mayBeEarly: whether packets that were sent too early may have caused the loss. The
  ///   number of losses counted as early exceeds `dropped` by at most one.
  mutating func count(mayBeEarly: Bool) {
    if mayBeEarly, early <= dropped {
      early += 1
    } else {
      dropped += 1
    }
  }
}
