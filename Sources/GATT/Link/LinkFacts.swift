import OtaflashATT

/// The parameters of a radio link that the transport knows. `nil`: unknown.
public struct LinkFacts: Equatable, Sendable {
  /// Bytes of payload that a link-layer packet can carry (Core 5.4, Vol 6, Part B, 4.5.10).
  package static let linkLayerPayloads = 27...251

  /// The PHY in use.
  public var phy: PHY?
  /// The time between two connection events, 7.5 ms…4 s.
  public var connectionInterval: Duration?
  /// Bytes of payload in one link-layer packet, 27…251.
  public var linkLayerPayload: Int?
  /// Connection events that the peripheral may skip, 0…499.
  public var peripheralLatency: Int?
  /// The time without a packet after which the link counts as lost, 100 ms…32 s.
  public var supervisionTimeout: Duration?
  /// A real radio carries the link. Its controllers may use less of the air than any model
  /// predicts, so the best parameters are found by measurement only. `false` for a socket, for a
  /// simulation, whose model is exact, and for a link that does not report it; on these nothing is
  /// measured.
  public var usesRadio: Bool

  /// An unknown parameter is `nil`.
  public init(
    phy: PHY? = nil, connectionInterval: Duration? = nil, linkLayerPayload: Int? = nil,
    peripheralLatency: Int? = nil, supervisionTimeout: Duration? = nil, usesRadio: Bool = false
  ) {
    self.phy = phy
    self.connectionInterval = connectionInterval
    self.linkLayerPayload = linkLayerPayload
    self.peripheralLatency = peripheralLatency
    self.supervisionTimeout = supervisionTimeout
    self.usesRadio = usesRadio
  }
}

extension PDUSizing {
  /// The known parameters of a link, with the best possible value for each unknown one.
  package init(_ facts: LinkFacts, isEncrypted: Bool = false) {
    self.init(
      linkLayerPayload: facts.linkLayerPayload ?? LinkFacts.linkLayerPayloads.upperBound,
      phy: facts.phy ?? .le2M, isEncrypted: isEncrypted)
  }
}
