/// The speed of a transfer, calculated from the bytes that the device has acknowledged in this run.
package struct RateMeter: Equatable, Sendable {
  /// The time after which the weight of an old rate has decreased by about two thirds.
  private static let smoothing = 3.0
  /// The time without an acknowledgement after which the transfer is considered stalled.
  package static let stallLimit = Duration.seconds(3)

  private let start: Duration
  private let startOffset: Int
  private var last: Duration
  package private(set) var acknowledged: Int
  private var smoothed: Double?

  package init(offset: Int, at now: Duration) {
    start = now
    startOffset = offset
    last = now
    acknowledged = offset
  }

  package mutating func acknowledge(_ offset: Int, at now: Duration) {
    let seconds = (now - last).inSeconds
    guard offset > acknowledged, seconds > 0 else {
      acknowledged = max(acknowledged, offset)
      return
    }
    let sample = Double(offset - acknowledged) / seconds
    // 1 - e^(-t/T) to second order, with an upper limit. The exact weights do not matter, but the
    // result must not depend on the number of acknowledgements.
    let weight = min(1, seconds / (Self.smoothing + seconds / 2))
    smoothed = smoothed.map { $0 + (sample - $0) * weight } ?? sample
    acknowledged = offset
    last = now
  }

  /// Returns the average rate of this run in bytes per second; `nil` before the first
  /// acknowledgement.
  package func rate(at now: Duration) -> Double? {
    let seconds = (now - start).inSeconds
    guard acknowledged > startOffset, seconds > 0 else { return nil }
    return Double(acknowledged - startOffset) / seconds
  }

  package func remaining(of total: Int) -> Duration? {
    guard let smoothed, smoothed > 0 else { return nil }
    return .milliseconds(Int64(Double(max(0, total - acknowledged)) / smoothed * 1000))
  }

  /// Returns the time without an acknowledgement; `nil` unless the transfer is considered stalled.
  package func stalled(at now: Duration) -> Duration? {
    now - last >= Self.stallLimit ? now - last : nil
  }
}
