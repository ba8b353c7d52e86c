/// The source of the images that devices may run, against which patches are created.
///
/// Use one instance for all updates to the same image. Each patch is then created only once, unless
/// the devices have more than four combinations of running image and decoder (`PatchCache`).
public struct BaseFinder: Sendable {
  private let find: @Sendable (ContentIdentity) -> [UInt8]?
  let computation: Computation
  let made = PatchCache()

  /// Creates a source of images.
  ///
  /// - Parameters:
  ///   - computation: the executor for the search for images and the creation of patches; by
  ///     default the executor of the update.
  ///   - find: returns the bytes of an image, or `nil` if the image is not available. Bytes whose
  ///     size or CRC32 differs from the requested values are ignored.
  public init(
    computation: Computation = .inline, _ find: @escaping @Sendable (ContentIdentity) -> [UInt8]?
  ) {
    self.computation = computation
    self.find = find
  }

  /// A source without images: the complete image is sent, compressed or not.
  public static var none: BaseFinder { BaseFinder { _ in nil } }

  func bytes(of image: ContentIdentity) -> [UInt8]? {
    guard let bytes = find(image), ContentIdentity(of: bytes) == image else { return nil }
    return bytes
  }
}
