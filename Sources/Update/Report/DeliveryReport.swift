/// The content that is sent to a device, and the reason for its selection.
public struct DeliveryReport: Equatable, Sendable {
  /// The kind of content that is sent.
  public enum Content: Equatable, Sendable {
    /// The uncompressed image.
    case image
    /// The compressed image.
    case compressed
    /// The differences from an image that the device has.
    case difference(base: ContentIdentity)
  }

  /// The kind of content that is sent.
  public var content: Content
  /// The size of the content in bytes.
  public var bytes: Int
  /// The size in bytes of the image that the device creates from the content.
  public var imageSize: Int
  /// The reason why the content is not a difference; `nil` for a difference.
  public var obstacle: DeliveryObstacle?
  /// The reason why the content that the caller provides is not used; `nil` if it is used, or if
  /// the caller provides none.
  public var unused: DeliveryObstacle?
  /// Whether the device's flash is expected to be slower than the link.
  public var isLimitedByFlash: Bool

  /// Creates a report, for example for the tests of an app.
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

  /// Whether the content is not the image itself, but a form of it with fewer bytes.
  public var isShortened: Bool { content != .image }
}
