/// The values that only devices with the otaflash OTA service report.
public struct OTAServiceReport: Equatable, Sendable {
  /// The part of an earlier transfer that the device still holds.
  public struct ResumePoint: Equatable, Sendable {
    /// The size of the complete image in bytes.
    public var imageSize: Int
    /// The announced CRC32 of the complete image.
    public var imageCRC32: UInt32
    /// The number of bytes that the device holds from the start of the image.
    public var offset: Int
    /// The CRC32 of the held bytes.
    public var heldCRC32: UInt32

    /// Creates the description of the held part of an image.
    public init(imageSize: Int, imageCRC32: UInt32, offset: Int, heldCRC32: UInt32) {
      self.imageSize = imageSize
      self.imageCRC32 = imageCRC32
      self.offset = offset
      self.heldCRC32 = heldCRC32
    }
  }

  /// The part that the device still holds of a stream from which it creates an image.
  public struct HeldStream: Equatable, Sendable {
    /// The identity of the complete stream.
    public var stream: ContentIdentity
    /// The number of bytes that the device holds from the start of the stream.
    public var offset: Int

    /// Creates the description of the held part of a stream.
    public init(stream: ContentIdentity, offset: Int) {
      self.stream = stream
      self.offset = offset
    }
  }

  /// The page size of the device's flash in bytes.
  public var pageSize: Int
  /// The maximum number of data bytes in one write.
  public var largestChunk: Int
  /// The outcome of the last start.
  public var lastBoot: DeviceReport.BootOutcome
  /// The part of an image that the device holds; `nil` if it holds no part.
  public var resumePoint: ResumePoint?
  /// The part of a stream that the device holds; `nil` if it holds no part.
  public var heldStream: HeldStream?

  /// Creates the report of a device that holds no data of an earlier transfer.
  public init(
    pageSize: Int, largestChunk: Int,
    lastBoot: DeviceReport.BootOutcome = .normal
  ) {
    self.pageSize = pageSize
    self.largestChunk = largestChunk
    self.lastBoot = lastBoot
  }
}
