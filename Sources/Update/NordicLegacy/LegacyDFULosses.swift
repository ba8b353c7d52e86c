/// Transfers that began anew because the device had dropped packets.
struct LegacyDFULosses {
  var dropped = 0
  /// Losses that may have come of packets sent before the device's flash was ready.
  var early = 0
}

extension UpdateContext {
  var losses: LegacyDFULosses { memory.last(LegacyDFULosses.self) ?? LegacyDFULosses() }

  /// Counts a loss, and returns how many there were that ask for a slower pace.
  ///
  /// - Parameter mayBeEarly: one is counted as such before each of the others.
  func lostPackets(mayBeEarly: Bool) -> Int {
    var losses = losses
    if mayBeEarly, losses.early <= losses.dropped {
      losses.early += 1
    } else {
      losses.dropped += 1
    }
    memory.keep(losses)
    return losses.dropped
  }
}
