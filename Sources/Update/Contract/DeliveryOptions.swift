/// The caller's choice of a delivery method, with the method's own parameters.
///
/// The value is passed in `UpdateOptions.delivery`. The life cycle only reads the properties below.
/// A session reads the options of its method in `prepare`, and throws `.undeliverable` if the
/// method fails. Unless the method is required, the life cycle then calls `prepare` once more; the
/// session has retained the failure, and sends the complete image.
public protocol DeliveryOptions: Sendable {
  /// The chosen method.
  var method: DeliveryMethod { get }

  /// Whether the update fails if the method cannot be used.
  var isRequired: Bool { get }

  /// Whether the caller provides the content. If so, the update of a device that does not support
  /// the method reports that the content is not used.
  var providesContent: Bool { get }

  /// The obstacle to report if the device does not support the method.
  var notSupported: DeliveryObstacle { get }
}

extension UpdateOptions {
  /// Whether the update fails if the chosen delivery method cannot be used.
  var requiresDelivery: Bool { delivery?.isRequired ?? false }

  /// Returns the obstacle to report if the device does not support the chosen method; `nil` if the
  /// device supports the method or no method was chosen.
  func deliveryObstacle(on device: DeviceReport) -> DeliveryObstacle? {
    guard let delivery, !device.deliveryMethods.contains(delivery.method) else { return nil }
    return delivery.notSupported
  }
}
