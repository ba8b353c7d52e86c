import OtaflashConsole
import OtaflashUpdate

/// The cause that limits a transfer.
package enum Bottleneck: String, Sendable {
  case air
  case connectionInterval = "connection interval"
  case window
  case deviceFlash = "device flash"
  case host

  /// The cause with an article.
  package var words: String {
    switch self {
    case .air, .connectionInterval, .window, .host: "the \(rawValue)"
    case .deviceFlash: "the device's flash"
    }
  }

  /// A short form, after "limited by".
  package var short: String {
    switch self {
    case .air, .window, .host: rawValue
    case .connectionInterval: "interval"
    case .deviceFlash: "flash"
    }
  }

  /// The minimum ratio of the rate to the limit at which the link is the cause.
  private static let linkShare = 0.85
  /// The minimum share of the time at which a wait is the cause.
  private static let waitShare = 0.2

  /// The measurements of a transfer.
  package struct Facts: Sendable {
    package let mode: WriteMode
    package let mtu: Int
    /// Bytes acknowledged per second.
    package let rate: Double
    package let took: Duration
    package let waits: TransferWaits
    /// Whether the device has reported that it accepts no data at present.
    package let wasBusy: Bool
  }

  /// - Parameter limit: `nil` for a link without a radio, or with unknown parameters.
  package init(_ facts: Facts, limit: LinkLimit?) {
    let share = limit.map { facts.rate / $0.bytesPerSecond(facts.mode, mtu: facts.mtu) }
    let device: Bottleneck? =
      facts.waits.device > facts.took * Self.waitShare ? Self.device(facts) : nil
    switch facts.mode {
    case .withResponse:
      // Single writes wait for their round trip, which consists of complete intervals.
      self = device ?? (limit == nil ? .host : .connectionInterval)
    case .auto, .withoutResponse:
      if let limit, share ?? 0 >= Self.linkShare {
        self = limit.isCutByEvents(mtu: facts.mtu) ? .connectionInterval : .air
      } else {
        self = device ?? (limit == nil ? .host : .air)
      }
    }
  }

  private static func device(_ facts: Facts) -> Bottleneck {
    facts.wasBusy || facts.waits.flash * 2 > facts.waits.device ? .deviceFlash : .window
  }
}

extension Bottleneck {
  package init(_ measurement: LinkBenchmark.Measurement, _ mode: WriteMode, limit: LinkLimit?) {
    self.init(
      Facts(
        mode: mode, mtu: measurement.link.mtu, rate: measurement.bytesPerSecond,
        took: measurement.took, waits: measurement.waits, wasBusy: measurement.busySigns > 0),
      limit: limit)
  }
}

extension Bottleneck {
  package init(_ stretch: TransferStretch) {
    let flow = stretch.flow
    self.init(
      Facts(
        mode: flow.mode, mtu: flow.link.mtu,
        rate: Double(stretch.bytesSent) / stretch.took.inSeconds, took: stretch.took,
        waits: flow.waits, wasBusy: false),
      limit: LinkLimit(flow.link))
  }
}

extension UpdateResult {
  /// The minimum duration of an upload whose rate is meaningful.
  package static let uploadWithRate = Duration.milliseconds(100)

  /// The bottleneck of the upload, if known.
  package var bottleneck: Bottleneck? {
    guard let flow, bytesSent > 0, uploadTook >= Self.uploadWithRate else { return nil }
    return Bottleneck(
      Bottleneck.Facts(
        mode: flow.mode, mtu: flow.link.mtu, rate: Double(bytesSent) / uploadTook.inSeconds,
        took: uploadTook, waits: flow.waits, wasBusy: false),
      limit: LinkLimit(flow.link))
  }
}
