import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate

/// The air limit, for the percentage in the progress line.
package enum AirLimit {
  /// Returns the maximum payload of Write Commands in bytes per second, in PDUs of the best size;
  /// `nil` if PHY or connection interval is unknown, or if a packet does not fit a connection
  /// event.
  package static let bytesPerSecond: @Sendable (LinkReport) -> Double? = { link in
    guard let limit = LinkLimit(link)?.bytesPerSecond(.withoutResponse, mtu: link.mtu) else {
      return nil
    }
    return limit > 0 ? limit : nil
  }

  /// Returns the model of the best possible link, on which the device answers within the connection
  /// event; `nil` if PHY or connection interval is unknown.
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
    model.controllerBuffers = link.controllerBuffers
    return model
  }
}
