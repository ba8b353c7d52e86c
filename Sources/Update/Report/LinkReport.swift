import OtaflashATT
import OtaflashGATT

/// The parameters of a link. `nil` = the transport does not report the value.
public struct LinkReport: Equatable, Sendable {
  /// ATT_MTU in bytes, 23…517.
  public var mtu: Int
  /// The PHY in use.
  public var phy: PHY?
  /// The time between two connection events.
  public var connectionInterval: Duration?
  /// The maximum payload of a Link Layer packet in bytes, 27…251.
  public var linkLayerPayload: Int?
  /// The number of connection events that the device may skip.
  public var peripheralLatency: Int?
  /// The time without a packet after which the link is considered lost.
  public var supervisionTimeout: Duration?
  /// The maximum number of packets that the host's controller sends in a connection event.
  public var controllerBuffers: Int?

  /// Creates a report. A value that the transport does not report is `nil`.
  public init(
    mtu: Int, phy: PHY? = nil, connectionInterval: Duration? = nil,
    linkLayerPayload: Int? = nil, peripheralLatency: Int? = nil,
    supervisionTimeout: Duration? = nil, controllerBuffers: Int? = nil
  ) {
    self.mtu = mtu
    self.phy = phy
    self.connectionInterval = connectionInterval
    self.linkLayerPayload = linkLayerPayload
    self.peripheralLatency = peripheralLatency
    self.supervisionTimeout = supervisionTimeout
    self.controllerBuffers = controllerBuffers
  }

  /// Reads the current parameters of a client's link.
  init(of client: GATTClient) {
    let facts = client.linkFacts
    self.init(
      mtu: client.mtu, phy: facts.phy,
      connectionInterval: facts.connectionInterval,
      linkLayerPayload: facts.linkLayerPayload, peripheralLatency: facts.peripheralLatency,
      supervisionTimeout: facts.supervisionTimeout, controllerBuffers: facts.controllerBuffers)
  }
}
