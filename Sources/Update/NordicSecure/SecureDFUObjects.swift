/// The division of an image into data objects, and of an object into packets.
struct SecureDFUObjects: Equatable, Sendable {
  /// The unit of packet sizes, except for the last packet of an image: a bootloader writes its
  /// flash in words.
  static let packetAlignment = 4
  /// The size of the image in bytes.
  let total: Int
  /// The size of every object except the last, from the response to select.
  let objectSize: Int
  let packetSize: Int

  init(total: Int, objectSize: Int, packetSize: Int) {
    precondition(objectSize > 0 && packetSize > 0)
    self.total = total
    self.objectSize = objectSize
    self.packetSize = packetSize
  }

  /// Returns the largest packet size, in bytes, that fits a write without response and consists of
  /// complete words.
  ///
  /// - Parameters:
  ///   - mtu: ATT_MTU, 23…517.
  ///   - limit: the caller's maximum packet size; a value below 4 counts as 4.
  static func packetSize(mtu: Int, limit: Int = .max) -> Int {
    max(packetAlignment, min(mtu - 3, limit) / packetAlignment * packetAlignment)
  }

  /// Returns the packet size, in bytes, that best fills connection events, for a link whose
  /// connection interval is known. Returns the maximum size if smaller packets would need receipts
  /// and packets of the maximum size would not.
  ///
  /// - Parameter commandSize: the fastest size of a Write Command.
  static func packetSize(mtu: Int, filling commandSize: Int) -> Int {
    let longest = packetSize(mtu: mtu)
    let filling = packetSize(mtu: min(mtu, commandSize))
    let least = min(longest, SecureDFUReceipts.packetSizeWithout)
    return filling < least ? longest : filling
  }

  /// Returns the range of image bytes of the object that contains the byte at `offset`.
  func object(holding offset: Int) -> Range<Int> {
    let start = offset / objectSize * objectSize
    return start..<min(start + objectSize, total)
  }

  func packet(at offset: Int, in object: Range<Int>) -> Range<Int> {
    offset..<min(offset + packetSize, object.upperBound)
  }
}
