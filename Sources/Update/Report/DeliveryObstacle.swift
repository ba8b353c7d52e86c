import OtaflashGATT

/// The reason why a delivery method is not used, in the terms of that method.
///
/// The `ExplainedFault` texts are used if the update fails because this delivery method was
/// explicitly required.
public protocol DeliveryReason: ExplainedFault, Equatable {
  /// The stable name of this kind of reason.
  var code: String { get }

  /// The reason, as a clause.
  var clause: String { get }

  /// Whether the device examined the content before it refused the content.
  var isVerdictOfDevice: Bool { get }
}

/// The reason why a delivery method is not used, for any delivery method.
public struct DeliveryObstacle: Equatable, Sendable {
  /// The reason, with the type of its method.
  public let reason: any DeliveryReason

  /// Creates the obstacle for this reason.
  public init(_ reason: any DeliveryReason) { self.reason = reason }

  /// The stable name of the reason.
  public var code: String { reason.code }

  /// The reason, as a clause.
  public var clause: String { reason.clause }

  /// Whether the device examined the content before it refused the content.
  public var isVerdictOfDevice: Bool { reason.isVerdictOfDevice }

  public static func == (lhs: DeliveryObstacle, rhs: DeliveryObstacle) -> Bool {
    lhs.reason.equals(rhs.reason)
  }
}

extension DeliveryReason {
  fileprivate func equals(_ other: any DeliveryReason) -> Bool { other as? Self == self }
}
