/// The decision of a session whether it updates the device, or leaves the update to the alternative
/// protocol of its type.
public enum ProtocolPreference: Equatable, Sendable {
  /// This protocol updates the device.
  case keep
  /// The alternative protocol updates the device; `because` is the reason to report, if any.
  case leave(because: DeliveryObstacle?)
}
