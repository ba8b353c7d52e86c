import OtaflashFirmware

/// The state that an update over Espressif's OTA service retains from one connection to the next.
struct EspressifRetained: RetainedValue {
  /// The values that the application reported before the activation.
  private(set) var before: ApplicationIdentity?
  /// The implementation, once an answer has confirmed it.
  var confirmed: EspressifDevice?
  /// The number of sectors that the host may send before an answer, from the answer to START.
  var window = 1
  /// Whether STOP was sent to a device that finishes the update with it, but was not answered.
  var isStopUnanswered = false
  private var transfer: Transfer?
  /// The CRC32 of the image of a START that has no answer yet.
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

  /// Returns whether a device that expects the sector `wanted` holds exactly the bytes of `image`
  /// before this sector, because this update sent them.
  func explains(_ wanted: Int, of image: FirmwareImage) -> Bool {
    // Without a sector, the device holds no bytes of another image.
    if wanted == 0, announced == image.crc32 { return true }
    guard let transfer, transfer.crc32 == image.crc32, transfer.size == image.bytes.count else {
      return false
    }
    return (transfer.acknowledged...max(transfer.acknowledged, transfer.sent)).contains(wanted)
  }
}
