import OtaflashFirmware

/// Whether a device may be sent a patch, or a compressed image, instead of the image.
public enum DeltaPolicy: String, Sendable, CaseIterable {
  /// What is there soonest; the image itself where anything stands in the way.
  case auto
  /// The image, byte by byte.
  case never
  /// A patch against what runs, or nothing.
  case require
}

/// Where the images lie that devices may run, against which patches are made.
///
/// One of them for all updates of the same image makes each patch once.
public struct BaseFinder: Sendable {
  private let find: @Sendable (ContentIdentity) -> [UInt8]?
  let computation: Computation
  let made = PatchCache()

  /// - Parameters:
  ///   - computation: where images are looked for and patches made; by default where the update is.
  ///   - find: the bytes of an image, or `nil` where it is not there. Bytes of another size or
  ///     CRC32 than asked for count as not there.
  public init(
    computation: Computation = .inline, _ find: @escaping @Sendable (ContentIdentity) -> [UInt8]?
  ) {
    self.computation = computation
    self.find = find
  }

  /// Knows no image: what is sent may be compressed, and is compressed once.
  public static var none: BaseFinder { BaseFinder { _ in nil } }

  func bytes(of image: ContentIdentity) -> [UInt8]? {
    guard let bytes = find(image), ContentIdentity(of: bytes) == image else { return nil }
    return bytes
  }
}
