import OtaflashATT
import OtaflashGATT

/// What is known of the link once connected. `nil` = the transport cannot tell.
public struct LinkReport: Equatable, Sendable {
  /// ATT_MTU in bytes, 23…517.
  public var mtu: Int
  /// The PHY in use.
  public var phy: PHY?
  /// The time between two connection events.
  public var connectionInterval: Duration?
  /// Bytes of payload in one link-layer packet, 27…251.
  public var linkLayerPayload: Int?
  /// Connection events that the device may skip.
  public var peripheralLatency: Int?
  /// How long the device may be silent before the link counts as lost.
  public var supervisionTimeout: Duration?

  /// A report; what the transport cannot tell is `nil`.
  public init(
    mtu: Int, phy: PHY? = nil, connectionInterval: Duration? = nil,
    linkLayerPayload: Int? = nil, peripheralLatency: Int? = nil,
    supervisionTimeout: Duration? = nil
  ) {
    self.mtu = mtu
    self.phy = phy
    self.connectionInterval = connectionInterval
    self.linkLayerPayload = linkLayerPayload
    self.peripheralLatency = peripheralLatency
    self.supervisionTimeout = supervisionTimeout
  }

  /// What is known of a client's link now.
  init(of client: GATTClient) {
    let facts = client.linkFacts
    self.init(
      mtu: client.mtu, phy: facts.phy,
      connectionInterval: facts.connectionInterval,
      linkLayerPayload: facts.linkLayerPayload, peripheralLatency: facts.peripheralLatency,
      supervisionTimeout: facts.supervisionTimeout)
  }
}
