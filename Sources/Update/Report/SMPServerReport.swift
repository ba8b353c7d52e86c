/// What a device reports over SMP, beyond what every protocol has.
public struct SMPServerReport: Equatable, Sendable {
  /// What the slots hold.
  public var slots: [SlotReport]
  /// Requests that the device has room for; `nil` where it does not report them.
  public var bufferCount: Int?
  /// How the bootloader activates images; `nil` where the device does not report it.
  public var bootloaderMode: MCUbootMode?

  /// A report of the slots, and of what else is known.
  public init(
    slots: [SlotReport], bufferCount: Int? = nil, bootloaderMode: MCUbootMode? = nil
  ) {
    self.slots = slots
    self.bufferCount = bufferCount
    self.bootloaderMode = bootloaderMode
  }
}
