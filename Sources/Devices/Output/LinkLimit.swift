import OtaflashATT
import OtaflashSimulation
import OtaflashUpdate

/// What a link could carry at best: the limit that a measured rate is a share of.
package struct LinkLimit: Equatable, Sendable {
  package let model: RadioModel

  /// Of a simulated device: everything about its link is known.
  package init(_ model: RadioModel) { self.model = model }

  /// Of a device that answers within the connection event, which nobody can know beforehand; `nil`
  /// when PHY or interval is not known.
  package init?(_ link: LinkReport) {
    guard let model = AirLimit.model(of: link) else { return nil }
    self.init(model)
  }

  /// Bytes of write payload per second in the best PDUs that an ATT_MTU permits; 0 when a packet
  /// does not fit a connection event.
  package func bytesPerSecond(_ mode: WriteMode, mtu: Int) -> Double {
    switch mode {
    case .withResponse: model.writeRequestLimit(mtu: mtu)
    case .auto, .withoutResponse:
      // A controller that holds few packets for an event may want them full.
      [bestPDU(mtu: mtu), sizing.bestSize(mtu: ATTMTU(clamping: mtu)), mtu]
        .map(model.eventPackedLimit).max() ?? 0
    }
  }

  /// Connection events, with their gaps and their ends, keep the air idle for a good part of the
  /// time: a stream that never ended would be much faster.
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
