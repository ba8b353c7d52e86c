/// What is sent so that a device gets its image, where the device takes something else, too.
public struct DeliveryReport: Equatable, Sendable {
  /// What goes over the air.
  public enum Content: Equatable, Sendable {
    /// The image as it is.
    case image
    /// The image, compressed.
    case compressed
    /// What differs from the image that runs.
    case patch(base: ContentIdentity)
  }

  /// What goes over the air.
  public var content: Content
  /// How many bytes that are, sent once.
  public var bytes: Int
  /// Bytes of the image that the device makes of them.
  public var imageSize: Int
  /// Why it is no patch; `nil` where it is one.
  public var obstacle: PatchObstacle?
  /// Why it is not the patch that was given; `nil` where it is, or none was.
  public var unused: PatchObstacle?
  /// The device's flash is expected to be slower than the link.
  public var isLimitedByFlash: Bool

  /// A report, as a test of an app may want one.
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

  /// Something else than the image goes over the air.
  public var isShortened: Bool { content != .image }
}
