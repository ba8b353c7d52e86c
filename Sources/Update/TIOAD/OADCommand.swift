import OtaflashWire

/// A command of the host on Control.
enum OADCommand: UInt8, Equatable, Sendable {
  /// Requests the block size.
  case blockSize = 0x01
  /// Starts the requests for blocks.
  case start = 0x03
  /// Makes the device restart into the received image.
  case enable = 0x04
  /// Discards the transfer.
  case cancel = 0x05
  /// Requests the software version.
  case softwareVersion = 0x07

  var encoded: [UInt8] { [rawValue] }
}

/// A block: its number and its image bytes.
enum OADBlock {
  static func encoded(number: UInt32, _ image: ArraySlice<UInt8>) -> [UInt8] {
    var writer = ByteWriter()
    writer.uint32(number)
    writer.bytes(image)
    return writer.bytes
  }
}
