/// The content that is sent to a device that supports a delivery method.
public struct DeliveryReport: Equatable, Sendable {
  /// The kind of content on air.
  public enum Content: Equatable, Sendable {
    /// The image as it is.
    case image
    /// The image, compressed.
    case compressed
    /// The differences from an image that the device has.
    case difference(base: ContentIdentity)
  }

  /// The kind of content on air.
  public var content: Content
  /// The size of the content.
  public var bytes: Int
  /// Bytes of the image that the device creates from the content.
  public var imageSize: Int
  /// Why the content is not a difference; `nil` for a difference.
  public var obstacle: DeliveryObstacle?
  /// Why the content that the caller provides is not used; `nil` if it is used, or there is no such
  /// content.
  public var unused: DeliveryObstacle?
  /// The device's flash is expected to be slower than the link.
  public var isLimitedByFlash: Bool

  /// A report, for example for the tests of an app.
  public init(
    content: Content, bytes: Int, imageSize: Int, obstacle: DeliveryObstacle? = nil,
    isLimitedByFlash: Bool = false
  ) {
    self.content = content
    self.bytes = bytes
    self.imageSize = imageSize
    self.obstacle = obstacle
    self.isLimitedByFlash = isLimitedByFlash
  }

  /// The content is shorter than the image.
  public var isShortened: Bool { content != .image }
}
