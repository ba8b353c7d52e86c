import OtaflashWire

/// The content of one slot of a device with MCUboot, as the device reports it.
public struct SlotReport: Equatable, Sendable {
  /// The number of the image; 0 if the device has only one image.
  public let image: Int
  /// The number of the slot, 0 or 1 for each image.
  public let slot: Int
  /// The version as the device reports it: `1.2.3`, or `1.2.3.4` with a build number.
  public let version: String
  /// The hash in the image's TLV area, 32, 48 or 64 bytes; `nil` if the device reports no hash.
  public let hash: [UInt8]?
  /// Whether the image runs now.
  public let isActive: Bool
  /// Whether the image is confirmed, so that the bootloader does not revert it.
  public let isConfirmed: Bool
  /// Whether the image starts at the next restart. The image runs only once unless it is permanent
  /// or is then confirmed.
  public let isPending: Bool
  /// Whether the pending image becomes permanent.
  public let isPermanent: Bool
  /// Whether the bootloader would start the image.
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
