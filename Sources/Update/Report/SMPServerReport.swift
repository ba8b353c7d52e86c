/// The values that only devices with SMP report.
public struct SMPServerReport: Equatable, Sendable {
  /// The content of the slots.
  public var slots: [SlotReport]
  /// The number of requests that the device can buffer; `nil` if the device does not report this
  /// number.
  public var bufferCount: Int?
  /// The mode in which the bootloader activates images; `nil` if the device does not report a mode.
  public var bootloaderMode: MCUbootMode?

  /// Creates a report of the slots and other known values.
  public init(
    slots: [SlotReport], bufferCount: Int? = nil, bootloaderMode: MCUbootMode? = nil
  ) {
    self.slots = slots
    self.bufferCount = bufferCount
    self.bootloaderMode = bootloaderMode
  }
}
