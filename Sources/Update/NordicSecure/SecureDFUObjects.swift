/// How an image is cut into data objects, and an object into packets.
struct SecureDFUObjects: Equatable, Sendable {
  /// Every packet but the last of an image is a multiple of this: a bootloader writes its flash in
  /// words.
  static let packetAlignment = 4
  /// Bytes of the image.
  let total: Int
  /// Bytes of every object but the last, from the answer to select.
  let objectSize: Int
  let packetSize: Int

  init(total: Int, objectSize: Int, packetSize: Int) {
    precondition(objectSize > 0 && packetSize > 0)
    self.total = total
    self.objectSize = objectSize
    self.packetSize = packetSize
  }

  /// As many bytes as a write without response carries, in whole words.
  ///
  /// - Parameters:
  ///   - mtu: ATT_MTU, 23…517.
  ///   - limit: the longest packet that the caller wants; less than 4 counts as 4.
  static func packetSize(mtu: Int, limit: Int = .max) -> Int {
    max(packetAlignment, min(mtu - 3, limit) / packetAlignment * packetAlignment)
  }

  /// The packets that fill connection events best, where the interval is known: not so short that
  /// receipts would be wanted for them which the longest do without.
  ///
  /// - Parameter commandSize: of a Write Command, as the air takes them best.
  static func packetSize(mtu: Int, filling commandSize: Int) -> Int {
    let longest = packetSize(mtu: mtu)
    let filling = packetSize(mtu: min(mtu, commandSize))
    let least = min(longest, SecureDFUReceipts.packetSizeWithout)
    return filling < least ? longest : filling
  }

  /// The object that begins at `start`, or that holds the byte there.
  func object(holding offset: Int) -> Range<Int> {
    let start = offset / objectSize * objectSize
    return start..<min(start + objectSize, total)
  }

  func packet(at offset: Int, in object: Range<Int>) -> Range<Int> {
    offset..<min(offset + packetSize, object.upperBound)
  }
}
