/// A form other than the image itself in which an image is delivered: the device creates the image
/// from other, usually shorter, content.
///
/// Each method is a constant that is declared next to the options and reasons of the method.
/// `DeviceReport.deliveryMethods` lists the methods that a device supports.
public struct DeliveryMethod: Hashable, Sendable {
  /// A unique name, in lower case.
  public let name: String

  /// Creates a method with this name.
  public init(_ name: String) { self.name = name }
}
