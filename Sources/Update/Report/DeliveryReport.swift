/// The content that is sent to a device that supports patches or compressed images.
public struct DeliveryReport: Equatable, Sendable {
  /// The kind of content on air.
  public enum Content: Equatable, Sendable {
    /// The image as it is.
    case image
    /// The image, compressed.
    case compressed
    /// The differences from the running image.
    case patch(base: ContentIdentity)
  }

  /// The kind of content on air.
  public var content: Content
  /// The size of the content.
  public var bytes: Int
  /// Bytes of the image that the device creates from the content.
  public var imageSize: Int
  /// Why the content is not a patch; `nil` for a patch.
  public var obstacle: PatchObstacle?
  /// Why the given patch is not used; `nil` if it is used, or none was given.
  public var unused: PatchObstacle?
  /// The device's flash is expected to be slower than the link.
  public var isLimitedByFlash: Bool

  /// A report, for example for the tests of an app.
  public init(
    content: Content, bytes: Int, imageSize: Int, obstacle: PatchObstacle? = nil,
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
