import OtaflashATT

/// The parameters of a radio link that the transport knows; unknown parameters are `nil`.
public struct LinkFacts: Equatable, Sendable {
  /// The possible values of the link-layer payload in bytes (Core 5.4, Vol 6, Part B, 4.5.10).
  package static let linkLayerPayloads = 27...251

  /// The PHY in use.
  public var phy: PHY?
  /// The time between two connection events, 7.5 ms…4 s.
  public var connectionInterval: Duration?
  /// The maximum number of payload bytes in one link-layer packet, 27…251.
  public var linkLayerPayload: Int?
  /// The number of connection events that the peripheral may skip, 0…499.
  public var peripheralLatency: Int?
  /// The time without a packet after which the link is considered lost, 100 ms…32 s.
  public var supervisionTimeout: Duration?
  /// The number of packets that the host's controller can hold before they are sent (LE Read Buffer
  /// Size, Core 5.4, Vol 4, Part E, 7.8.2), if this number also limits the packets of one
  /// connection event; 1 or more.
  public var controllerBuffers: Int?

  /// Creates the parameters of a link; unknown parameters are `nil`.
  public init(
    phy: PHY? = nil, connectionInterval: Duration? = nil, linkLayerPayload: Int? = nil,
    peripheralLatency: Int? = nil, supervisionTimeout: Duration? = nil,
    controllerBuffers: Int? = nil
  ) {
    self.phy = phy
    self.connectionInterval = connectionInterval
    self.linkLayerPayload = linkLayerPayload
    self.peripheralLatency = peripheralLatency
    self.supervisionTimeout = supervisionTimeout
    self.controllerBuffers = controllerBuffers
  }
}

extension PDUSizing {
  /// Creates the sizing for the known parameters of a link, with the best possible value in place
  /// of each unknown parameter.
  package init(_ facts: LinkFacts, isEncrypted: Bool = false) {
    self.init(
      linkLayerPayload: facts.linkLayerPayload ?? LinkFacts.linkLayerPayloads.upperBound,
      phy: facts.phy ?? .le2M, isEncrypted: isEncrypted,
      packetsPerEvent: facts.controllerBuffers.map { max(1, $0) })
  }
}
