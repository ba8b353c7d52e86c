/// What a device reports of the otaflash OTA service, beyond what every protocol has.
public struct OTAServiceReport: Equatable, Sendable {
  /// The part of an earlier transfer that the device still holds.
  public struct ResumePoint: Equatable, Sendable {
    /// In bytes, of the complete image.
    public var imageSize: Int
    /// Of the complete image, as announced.
    public var imageCRC32: UInt32
    /// Bytes held, from the start of the image.
    public var offset: Int
    /// Of the bytes held.
    public var heldCRC32: UInt32

    /// The part of an image that a device holds.
    public init(imageSize: Int, imageCRC32: UInt32, offset: Int, heldCRC32: UInt32) {
      self.imageSize = imageSize
      self.imageCRC32 = imageCRC32
      self.offset = offset
      self.heldCRC32 = heldCRC32
    }
  }

  /// The part of a stream, from which the device creates an image, that it still holds.
  public struct HeldStream: Equatable, Sendable {
    /// The complete stream.
    public var stream: ContentIdentity
    /// Bytes held, from the start of the stream.
    public var offset: Int

    /// The part of a stream that a device holds.
    public init(stream: ContentIdentity, offset: Int) {
      self.stream = stream
      self.offset = offset
    }
  }

  /// Of the device's flash, in bytes.
  public var pageSize: Int
  /// The maximum number of data bytes in one write.
  public var largestChunk: Int
  /// The outcome of the last start.
  public var lastBoot: DeviceReport.BootOutcome
  /// `nil` if the device holds no part of an image.
  public var resumePoint: ResumePoint?
  /// The part of a stream that the device holds; `nil` for no part.
  public var heldStream: HeldStream?

  /// A report of a device that holds nothing of an earlier transfer.
  public init(
    pageSize: Int, largestChunk: Int,
    lastBoot: DeviceReport.BootOutcome = .normal
  ) {
    self.pageSize = pageSize
    self.largestChunk = largestChunk
    self.lastBoot = lastBoot
  }
}
