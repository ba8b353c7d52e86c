/// A form other than the image itself in which an image is delivered: the device creates the image
/// from other, usually shorter, content.
///
/// A method is a constant in the folder of its options and reasons. Devices that support it list it
/// in `DeviceReport.deliveryMethods`.
public struct DeliveryMethod: Hashable, Sendable {
  /// A unique name, in lower case.
  public let name: String

  /// Creates a method with this name.
  public init(_ name: String) { self.name = name }
}
