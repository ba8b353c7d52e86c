/// What a device reports of the otaflash OTA service, beyond what every protocol has.
public struct OTAServiceReport: Equatable, Sendable {
  /// The part of an earlier transfer that the device still holds.
  public struct ResumePoint: Equatable, Sendable {
    /// In bytes, of the whole image.
    public var imageSize: Int
    /// Of the whole image, as it was announced.
    public var imageCRC32: UInt32
    /// Bytes held, from the image's beginning on.
    public var offset: Int
    /// Of the bytes held.
    public var heldCRC32: UInt32

    /// What a device holds of an image.
    public init(imageSize: Int, imageCRC32: UInt32, offset: Int, heldCRC32: UInt32) {
      self.imageSize = imageSize
      self.imageCRC32 = imageCRC32
      self.offset = offset
      self.heldCRC32 = heldCRC32
    }
  }

  /// The part of a patch, or of a compressed image, that the device still holds.
  public struct HeldStream: Equatable, Sendable {
    /// All that was to be sent.
    public var stream: ContentIdentity
    /// Bytes held, from its beginning on.
    public var offset: Int

    /// What a device holds of a stream.
    public init(stream: ContentIdentity, offset: Int) {
      self.stream = stream
      self.offset = offset
    }
  }

  /// Of the device's flash, in bytes.
  public var pageSize: Int
  /// Bytes of data in one write, at most.
  public var largestChunk: Int
  /// The device makes an image out of a patch against the one that runs, or out of a compressed
  /// one.
  public var takesPatches: Bool
  /// How the last start went.
  public var lastBoot: DeviceReport.BootOutcome
  /// `nil` where the device holds nothing of an image.
  public var resumePoint: ResumePoint?
  /// What the device holds of something that was sent instead of an image; `nil` where it holds
  /// nothing of the kind.
  public var heldStream: HeldStream?

  /// A report of a device that holds nothing of an earlier transfer.
  public init(
    pageSize: Int, largestChunk: Int, takesPatches: Bool = false,
    lastBoot: DeviceReport.BootOutcome = .normal
  ) {
    self.pageSize = pageSize
    self.largestChunk = largestChunk
    self.takesPatches = takesPatches
    self.lastBoot = lastBoot
  }
}
