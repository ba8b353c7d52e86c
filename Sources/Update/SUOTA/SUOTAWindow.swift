import OtaflashFirmware

/// The arithmetic of a transfer: blocks of PATCH_LEN bytes, in packets, with a status for each
/// block. The data consists of the image and the XOR of its bytes.
struct SUOTAWindow: Equatable, Sendable {
  /// The number of bytes that a DA1468x or DA1469x can hold while it erases a sector: its SDK
  /// grants six credits of 496 bytes each for the same purpose (`dlg_suota.c`).
  static let streamMaximum = 6 * 496
  /// The number of blocks of a stream in this space, so that a status arrives before the space is
  /// full.
  private static let blocksAhead = 3
  /// The buffer sizes to try, in bytes: the size in all SDKs for the DA1453x and DA1458x
  /// (`app_suotar.h`), the size in the apps of vendors, and two smaller sizes.
  static let bufferSizes = [512, 240, 128, 64]

  /// The number of bytes including the XOR.
  let total: Int
  /// The number of bytes of a complete block.
  let block: Int
  /// The number of bytes of a packet.
  let packet: Int
  /// The number of unacknowledged bytes.
  let ahead: Int
  /// The length that was written to PATCH_LEN last; 0 = none.
  private(set) var length = 0
  private(set) var sent = 0
  private(set) var acknowledged = 0

  /// Creates the window for blocks, which a device reports one at a time.
  ///
  /// - Parameter buffer: the buffer of the device, in bytes.
  init(total: Int, packet: Int, buffer: Int, limit: Int? = nil) {
    precondition(total > 0 && packet > 0)
    let block = max(64, min(buffer, limit ?? .max))
    self.init(total: total, packet: min(packet, block), block: block, ahead: block)
  }

  /// Creates the window for a stream, in which blocks only count the received bytes.
  ///
  /// - Parameters:
  ///   - losses: the number of earlier transfers with lost packets; each reduces the window.
  ///   - limit: the maximum number of unacknowledged bytes; `nil` = no additional limit.
  init(streaming total: Int, packet: Int, losses: Int = 0, limit: Int? = nil) {
    precondition(total > 0 && packet > 0)
    let most = max(packet, min(Self.streamMaximum, limit ?? .max) >> min(2 * losses, 16))
    let packets = max(1, most / Self.blocksAhead / packet)
    let block = packets * packet
    self.init(total: total, packet: packet, block: block, ahead: max(block, most / block * block))
  }

  private init(total: Int, packet: Int, block: Int, ahead: Int) {
    (self.total, self.packet, self.block, self.ahead) = (total, packet, block, ahead)
  }

  /// The number of bytes in complete blocks.
  private var complete: Int { total / block * block }

  var isComplete: Bool { acknowledged == total }

  /// The length to write to PATCH_LEN before the next packet; `nil` if the device has this length,
  /// or must first report the blocks that were sent. The last block has the remaining bytes; its
  /// length may only be written when all earlier blocks are reported.
  var lengthDue: Int? {
    guard sent < total else { return nil }
    let next = sent < complete ? block : total - complete
    guard next != length, length == 0 || acknowledged == sent else { return nil }
    return next
  }

  /// The bytes of the next packet; `nil` if a status must arrive or PATCH_LEN must be written
  /// first, or if all bytes are sent.
  var sendable: Range<Int>? {
    guard sent < total, length == (sent < complete ? block : total - complete) else { return nil }
    let end = min(sent + packet, (sent / block + 1) * block, total)
    guard end - acknowledged <= ahead else { return nil }
    return sent..<end
  }

  mutating func announced(_ length: Int) { self.length = length }

  mutating func didSend(_ range: Range<Int>) { sent = range.upperBound }

  /// Processes the status of a block. A status without a block is ignored, because a device may
  /// repeat a status.
  mutating func reported() {
    let next = min(acknowledged + block, total)
    if next <= sent { acknowledged = next }
  }

  /// Processes the number of received bytes that the device reports on request: all status
  /// notifications before are either received or lost. Returns `false` if sent bytes are missing.
  ///
  /// - Parameter imageSize: a device may not count the XOR byte.
  mutating func received(_ bytes: Int, imageSize: Int) -> Bool {
    guard bytes >= min(sent, imageSize) else { return false }
    acknowledged = sent == total ? total : sent / block * block
    return true
  }
}

extension FirmwareImage {
  /// The bytes that a transfer sends: the image and the XOR of all its bytes.
  var suotaData: [UInt8] { bytes + [bytes.reduce(0, ^)] }
}
