/// The pace of a transfer: the distance between acknowledged writes, and the maximum number of
/// writes that the device has not acknowledged.
package struct SilabsPace: Equatable, Sendable {
  /// The minimum number of writes from one acknowledged write to the next.
  let interval: Int
  /// The maximum number of writes from one acknowledged write to the next.
  let spacing: Int
  /// The window at the start and its limit, in writes.
  let start: Int
  let window: Int

  /// Every 8th to 16th write is acknowledged, and the host does not wait for the response before
  /// the next writes. The device therefore always has data for its flash.
  package static let overlapping = SilabsPace(interval: 8, spacing: 16, start: 8, window: 24)
  /// Every 8th write is acknowledged before the next write, as in silabs-ble-ota.
  package static let alternating = SilabsPace(interval: 8, spacing: 8, start: 8, window: 8)
  /// Every write is acknowledged.
  package static let acknowledged = SilabsPace(interval: 1, spacing: 1, start: 1, window: 1)

  /// The paces of a loader, fastest first. A loader drops writes for which it has no buffer, and
  /// notices this only as a wrong file. Each such failure leads to the next pace.
  static let ladder = [overlapping, alternating, acknowledged]

  /// Whether every write is acknowledged, so that the device cannot have dropped any.
  var isLossless: Bool { window == 1 }

  /// Returns the pace for a number of failed transfers.
  ///
  /// - Parameter limit: the caller's limit of unacknowledged writes.
  static func after(failures: Int, limit: Int) -> SilabsPace {
    let pace = ladder[min(failures, ladder.count - 1)]
    let window = max(1, min(pace.window, limit))
    return SilabsPace(
      interval: min(pace.interval, window), spacing: min(pace.spacing, window),
      start: min(pace.start, window), window: window)
  }
}
