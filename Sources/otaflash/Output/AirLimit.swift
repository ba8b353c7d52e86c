import OtaflashSimulation
import OtaflashUpdate

/// What the air allows, for the share that the progress line shows.
enum AirLimit {
  /// Octets of image per second that Write Commands in full packets could carry at most; `nil`
  /// when PHY or connection interval is not known.
  static let bytesPerSecond: @Sendable (LinkReport) -> Double? = { link in
    guard let phy = link.phy.flatMap(PHY.init(rawValue:)),
      let interval = link.intervalMilliseconds.flatMap({
        ConnectionInterval(microseconds: Int($0 * 1000))
      })
    else { return nil }
    var model = RadioModel()
    model.phy = phy
    model.interval = interval
    if let payload = link.linkLayerPayload { model.payloadMaximum = payload }
    let limit = model.eventPackedLimit(mtu: link.mtu)
    return limit > 0 ? limit : nil
  }
}
