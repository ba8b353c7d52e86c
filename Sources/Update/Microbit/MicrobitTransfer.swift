/// The order of the blocks of a script, and the numbers of their packets, as a pure value.
///
/// At most one block is in flight: the device has one buffer, which packets of the next block would
/// overwrite.
struct MicrobitTransfer: Equatable, Sendable {
  /// The maximum number of times that a block is sent.
  static let attemptsMaximum = 6

  /// The flash address of the script.
  let start: Int
  private let script: [UInt8]
  /// The offsets of the blocks in the script.
  let offsets: [Int]
  private(set) var index = 0
  /// The number of the first packet of the next block.
  private(set) var number: UInt8 = 0
  /// The number of times that the current block was sent.
  private(set) var attempts = 0

  /// - Parameters:
  ///   - start: the flash address of the script, at the start of a page.
  ///   - script: the bytes of the script.
  ///   - pageSize: the size of a page in bytes.
  init(start: Int, script: [UInt8], pageSize: Int) {
    self.start = start
    self.script = script
    let all = stride(from: 0, to: script.count, by: MicrobitService.blockSize)
    // The first block of a page makes the device erase the page. Erased bytes need not be sent.
    offsets = all.filter { offset in
      (start + offset).isMultiple(of: pageSize)
        || script[offset...].prefix(MicrobitService.blockSize).contains { $0 != 0xFF }
    }
  }

  var isComplete: Bool { index == offsets.count }

  /// The number of bytes of the script that the device has written, including the erased bytes
  /// between the blocks.
  var written: Int { isComplete ? script.count : offsets[index] }

  /// The next block, padded with 0xFF.
  var block: MicrobitBlock? {
    guard !isComplete else { return nil }
    let part = script[offsets[index]...].prefix(MicrobitService.blockSize)
    let padding = [UInt8](repeating: 0xFF, count: MicrobitService.blockSize - part.count)
    return MicrobitBlock(address: start + offsets[index], bytes: part + padding)
  }

  /// Whether the current block was sent the maximum number of times.
  var isExhausted: Bool { attempts >= Self.attemptsMaximum }

  mutating func didSend() { attempts += 1 }

  /// Handles the confirmation of the block.
  mutating func confirmed() {
    index += 1
    attempts = 0
    number &+= UInt8(MicrobitService.packetsPerBlock)
  }

  /// Handles the report of a packet with an unexpected number: the device drops the rest of the
  /// block, and expects the numbers of the next block.
  mutating func rejected() { number &+= UInt8(MicrobitService.packetsPerBlock) }

  /// Handles the request of a region: the device counts packets from 0.
  mutating func numbersRestarted() { number = 0 }
}
