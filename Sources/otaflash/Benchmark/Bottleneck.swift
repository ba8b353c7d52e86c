import OtaflashUpdate

/// What holds a transfer back.
enum Bottleneck: String, Sendable {
  case air
  case connectionInterval = "connection interval"
  case window
  case deviceFlash = "device flash"
  case host

  /// From this share of the limit on it is the link that holds back.
  private static let linkShare = 0.85
  /// A wait counts when it takes this share of the time.
  private static let waitShare = 0.2

  /// - Parameter limit: `nil` for a link without air, or of which too little is known.
  init(_ measurement: LinkBenchmark.Measurement, _ mode: WriteMode, limit: LinkLimit?) {
    let share = limit.map { limit in
      measurement.octetsPerSecond / limit.octetsPerSecond(mode, mtu: measurement.link.mtu)
    }
    let waitsForDevice = measurement.waits.device > measurement.took * Self.waitShare
    self =
      switch mode {
      case .withResponse:
        Self.answered(measurement, waitsForDevice: waitsForDevice, hasAir: limit != nil)
      case .auto, .withoutResponse:
        if share ?? 0 >= Self.linkShare {
          limit?.isCutByEvents(mtu: measurement.link.mtu) == true ? .connectionInterval : .air
        } else if waitsForDevice {
          measurement.busySigns > 0 ? .deviceFlash : .window
        } else {
          limit == nil ? .host : .air
        }
      }
  }

  /// One write at a time waits for its round trip, which is made of whole intervals.
  private static func answered(
    _ measurement: LinkBenchmark.Measurement, waitsForDevice: Bool, hasAir: Bool
  ) -> Bottleneck {
    if waitsForDevice { return measurement.busySigns > 0 ? .deviceFlash : .window }
    return hasAir ? .connectionInterval : .host
  }
}
