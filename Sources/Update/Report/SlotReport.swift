import OtaflashWire

/// The content of one slot of a device with MCUboot, as the device reports it.
public struct SlotReport: Equatable, Sendable {
  /// Which of the device's images; 0 for the only one.
  public let image: Int
  /// 0 or 1 for each image.
  public let slot: Int
  /// As the device reports it: `1.2.3`, or `1.2.3.4` with a build number.
  public let version: String
  /// The hash in the image's trailer, 32, 48 or 64 bytes; `nil` if the device reports none.
  public let hash: [UInt8]?
  /// It runs now.
  public let isActive: Bool
  /// It will not be reverted.
  public let isConfirmed: Bool
  /// It starts next; only once, unless it is permanent or is confirmed then.
  public let isPending: Bool
  /// The pending image becomes permanent.
  public let isPermanent: Bool
  /// The bootloader would start it.
  public let isBootable: Bool

  init(_ slot: SMPImage.Slot) {
    image = slot.image ?? 0
    self.slot = slot.slot
    version = slot.versionName
    hash = slot.hash
    isActive = slot.flags.contains(.active)
    isConfirmed = slot.flags.contains(.confirmed)
    isPending = slot.flags.contains(.pending)
    isPermanent = slot.flags.contains(.permanent)
    isBootable = slot.flags.contains(.bootable)
  }
}
