/// The source of the images that devices may run; patches are created against them.
///
/// Use one instance for all updates to the same image: each patch is then created once.
public struct BaseFinder: Sendable {
  private let find: @Sendable (ContentIdentity) -> [UInt8]?
  let computation: Computation
  let made = PatchCache()

  /// - Parameters:
  ///   - computation: where images are searched and patches created; by default the update's
  ///     executor.
  ///   - find: returns the bytes of an image, or `nil` if it is not available. Bytes with another
  ///     size or CRC32 than requested are ignored.
  public init(
    computation: Computation = .inline, _ find: @escaping @Sendable (ContentIdentity) -> [UInt8]?
  ) {
    self.computation = computation
    self.find = find
  }

  /// Knows no image: the image is sent as it is, or compressed.
  public static var none: BaseFinder { BaseFinder { _ in nil } }

  func bytes(of image: ContentIdentity) -> [UInt8]? {
    guard let bytes = find(image), ContentIdentity(of: bytes) == image else { return nil }
    return bytes
  }
}
