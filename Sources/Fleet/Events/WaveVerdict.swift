/// The decision after a wave.
public enum WaveVerdict: Hashable, Sendable, Codable {
  /// The next wave starts.
  case `continue`
  /// Too many of the devices failed.
  case stop(failures: Int, of: Int)
  /// The number of devices that succeeded or failed (`seen`) is too small for a decision.
  case inconclusive(seen: Int, of: Int)
}

/// The number of devices of a wave by outcome.
public struct WaveTally: Hashable, Sendable {
  /// The number of devices of the wave.
  public let size: Int
  /// The number of devices that run the image.
  public var succeeded = 0
  /// The number of failed devices.
  public var failed = 0
  /// The number of devices without any advertisement.
  public var unseen = 0
  /// The number of skipped devices and of failures on the host.
  public var neutral = 0
  /// The number of failures that an operator accepted by resuming a run that paused at the limit.
  public var accepted = 0

  /// Creates the tally of a wave without outcomes.
  public init(size: Int) { self.size = size }

  /// The number of devices with an outcome.
  public var settled: Int { succeeded + failed + unseen + neutral }

  /// Counts an outcome; `change` = −1 removes it.
  public mutating func count(_ ending: DeviceEnding, by change: Int = 1) {
    switch ending.count {
    case .succeeded: succeeded += change
    case .failed: failed += change
    case .unseen: unseen += change
    case .neutral: neutral += change
    }
  }

  /// Returns whether the failures that no operator accepted reach the stop threshold.
  public func reachesStop(of thresholds: WaveThresholds) -> Bool {
    failed - accepted >= thresholds.stop.devices(of: size)
  }

  /// Returns the number of further devices that may be in flight; `nil` = any number.
  ///
  /// - Parameters:
  ///   - open: the number of devices in flight.
  ///   - thresholds: the thresholds of the wave.
  public func room(nextTo open: Int, by thresholds: WaveThresholds) -> Int? {
    thresholds.overshoot.map { overshoot in
      max(0, thresholds.stop.devices(of: size) + overshoot - (failed - accepted) - open)
    }
  }

  /// Returns the verdict after all devices are settled.
  public func verdict(by thresholds: WaveThresholds) -> WaveVerdict {
    if reachesStop(of: thresholds) { return .stop(failures: failed, of: size) }
    let judged = succeeded + failed
    guard judged > 0, judged * 100 >= thresholds.seenPercent * size else {
      return .inconclusive(seen: judged, of: size)
    }
    guard succeeded * 100 >= thresholds.successPercent * judged else {
      return .stop(failures: failed, of: size)
    }
    return .continue
  }
}
