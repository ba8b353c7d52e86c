import OtaflashFirmware

/// The state that an update over Espressif's OTA service retains from one connection to the next.
struct EspressifRetained: RetainedValue {
  /// The values that the application reported before the activation.
  private(set) var before: ApplicationIdentity?
  /// The implementation, once an answer has confirmed it.
  var confirmed: EspressifDevice?
  /// The window that the device granted at START.
  var window = 1
  /// Whether STOP was sent to a device that finishes the update with it, but was not answered.
  var isStopUnanswered = false
  private var transfer: Transfer?
  /// The image of a START without an answer.
  private var announced: UInt32?

  private struct Transfer {
    let crc32: UInt32
    let size: Int
    var acknowledged = 0
    var sent = 0
  }

  /// Records the values that the connected application reports before the activation.
  mutating func met(_ identity: ApplicationIdentity) { before = before ?? identity }

  /// Records that the device starts a transfer of the image from its first byte.
  mutating func began(_ image: FirmwareImage) {
    announced = nil
    transfer = Transfer(crc32: image.crc32, size: image.bytes.count)
  }

  /// Records that START is sent, whose answer may be lost.
  mutating func announces(_ image: FirmwareImage) { announced = image.crc32 }

  /// Records that the device rejected START, so that its transfer is not of this update.
  mutating func rejected() { announced = nil }

  /// Records the sectors whose last packet was sent, and the sectors that the device accepted.
  mutating func advanced(sent: Int, acknowledged: Int) {
    guard var record = transfer else { return }
    record.sent = max(record.sent, sent)
    record.acknowledged = max(record.acknowledged, acknowledged)
    transfer = record
  }

  /// Returns whether this update has sent the image up to a sector, so that a device that expects
  /// the sector holds exactly the bytes before it.
  func explains(_ wanted: Int, of image: FirmwareImage) -> Bool {
    // Without a sector, the device holds no bytes of another image.
    if wanted == 0, announced == image.crc32 { return true }
    guard let transfer, transfer.crc32 == image.crc32, transfer.size == image.bytes.count else {
      return false
    }
    return (transfer.acknowledged...max(transfer.acknowledged, transfer.sent)).contains(wanted)
  }
}
