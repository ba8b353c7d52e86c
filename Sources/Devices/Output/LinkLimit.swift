import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate

/// The maximum rate of a link, to which percentages refer.
package struct LinkLimit: Equatable, Sendable {
  package let model: RadioModel

  /// Creates the limit of a simulated device, whose link parameters are all known.
  package init(_ model: RadioModel) { self.model = model }

  /// Creates the limit of a link. The limit assumes that the device answers within the connection
  /// event, because the host cannot know the event of the answer in advance. Returns `nil` if PHY
  /// or interval is unknown.
  package init?(_ link: LinkReport) {
    guard let model = AirLimit.model(of: link) else { return nil }
    self.init(model)
  }

  /// Returns the bytes of write payload per second in PDUs of the best size for an ATT_MTU; 0 if a
  /// packet does not fit a connection event.
  package func bytesPerSecond(_ mode: WriteMode, mtu: Int) -> Double {
    switch mode {
    case .withResponse: model.writeRequestLimit(mtu: mtu)
    case .auto, .withoutResponse:
      // A controller that buffers few packets per event may need full packets.
      [bestPDU(mtu: mtu), sizing.bestSize(mtu: ATTMTU(clamping: mtu)), mtu]
        .map(model.eventPackedLimit).max() ?? 0
    }
  }

  /// Returns whether the gaps within and between connection events cost more than a quarter of the
  /// rate of a continuous stream.
  package func isCutByEvents(mtu: Int) -> Bool {
    let pdu = bestPDU(mtu: mtu)
    return model.eventPackedLimit(mtu: pdu) < 0.75 * model.continuousLimit(mtu: pdu)
  }

  private func bestPDU(mtu: Int) -> Int {
    sizing.bestSize(mtu: ATTMTU(clamping: mtu), interval: model.interval.duration)
  }

  private var sizing: PDUSizing {
    PDUSizing(
      linkLayerPayload: model.payloadMaximum, phy: model.phy, isEncrypted: model.isEncrypted)
  }
}
