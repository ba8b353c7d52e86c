/// The caller's choice of a delivery method, with the method's own parameters.
///
/// The value is passed in `UpdateOptions.delivery`. The life cycle only asks the questions below; a
/// session reads the options of its method in `prepare`, and throws `.undeliverable` if the method
/// fails. Unless it is required, the life cycle then calls `prepare` once more: the session retains
/// that the method failed, and sends the image as it is.
public protocol DeliveryOptions: Sendable {
  /// The chosen method.
  var method: DeliveryMethod { get }

  /// Whether the update fails if the method cannot be used.
  var isRequired: Bool { get }

  /// Whether the caller provides the content; then an update of a device without support for the
  /// method reports it.
  var providesContent: Bool { get }

  /// The obstacle of a device that does not support the method.
  var notSupported: DeliveryObstacle { get }
}

extension UpdateOptions {
  /// Whether the update fails if the chosen delivery method cannot be used.
  var requiresDelivery: Bool { delivery?.isRequired ?? false }

  /// The obstacle of a device that does not support the chosen method; `nil` if none was chosen.
  func deliveryObstacle(on device: DeviceReport) -> DeliveryObstacle? {
    guard let delivery, !device.deliveryMethods.contains(delivery.method) else { return nil }
    return delivery.notSupported
  }
}
