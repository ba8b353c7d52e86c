import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate

/// What the air allows, for the share that the progress line shows.
package enum AirLimit {
  /// Bytes of image per second that Write Commands in full packets could carry at most; `nil`
  /// when PHY or connection interval is not known.
  package static let bytesPerSecond: @Sendable (LinkReport) -> Double? = { link in
    guard let limit = LinkLimit(link)?.bytesPerSecond(.withoutResponse, mtu: link.mtu) else {
      return nil
    }
    return limit > 0 ? limit : nil
  }

  /// The best link with these facts: one whose device answers within the connection event.
  package static func model(of link: LinkReport) -> RadioModel? {
    guard let phy = link.phy,
      let interval = link.intervalMilliseconds.flatMap({
        ConnectionInterval(microseconds: Int($0 * 1000))
      })
    else { return nil }
    var model = RadioModel()
    model.phy = phy
    model.interval = interval
    model.responseEvent = .same
    if let payload = link.linkLayerPayload { model.payloadMaximum = payload }
    return model
  }
}
