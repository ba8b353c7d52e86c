import OtaflashFirmware

/// What the device says of itself before anything is sent.
public struct DeviceReport: Equatable, Sendable {
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

  /// How the device's last start went, as its bootloader says.
  public enum BootOutcome: String, Sendable {
    /// As usual.
    case normal
    /// The last activation was carried out.
    case activated
    /// The last activation was rejected, or carried out and reverted.
    case rejected
  }

  /// The protocol that is spoken.
  public var updateProtocol: UpdateProtocol
  /// The protocol's version, as the device tells it.
  public var protocolVersion: Int
  /// The device runs its bootloader, which reports nothing of the application.
  public var isInBootloader = false
  /// The board's id; `nil` where nobody tells.
  public var hardware: HardwareID?
  /// The version that runs; `nil` where nobody tells.
  public var runningVersion: FirmwareVersion?
  /// The build number behind it, where the device tells one.
  public var runningBuild: UInt32?
  /// Of the image that runs.
  public var runningCRC32: UInt32?
  /// The largest image, in bytes.
  public var slotSize: Int?
  /// Of its flash, in bytes.
  public var pageSize: Int?
  /// Image bytes in one write, at most.
  public var largestChunk: Int?
  /// Bytes that the device takes ahead of its flash.
  public var bufferSize: Int?
  /// An update must prove a key.
  public var needsAuthorization: Bool
  /// It makes an image out of a patch against the one that runs, or out of a compressed one.
  public var takesPatches = false
  /// How its last start went; `nil` where nobody tells.
  public var lastBoot: BootOutcome?
  /// The image that runs has not been confirmed yet.
  public var isOnTrial: Bool
  /// `nil` where the device holds nothing of an image.
  public var resumePoint: ResumePoint?
  /// What the device holds of something that was sent instead of an image, and how many bytes of
  /// that; `nil` where it holds nothing of the kind.
  public var heldStream: HeldStream?
  /// What the slots of a device with MCUboot hold; empty where nobody tells.
  public var slots: [SlotReport] = []
  /// Requests that the device has room for.
  public var bufferCount: Int?
  /// How a bootloader of MCUboot activates images; `nil` for other devices.
  public var bootloaderMode: MCUbootMode?

  /// A report of which nothing but the protocol is known yet.
  public init(_ updateProtocol: UpdateProtocol, protocolVersion: Int) {
    self.updateProtocol = updateProtocol
    self.protocolVersion = protocolVersion
    needsAuthorization = false
    isOnTrial = false
  }
}
