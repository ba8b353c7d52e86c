import OtaflashWire

/// A region of the flash, as a device reports it.
struct MicrobitRegion: Equatable, Sendable {
  let start: Int
  /// The first address after the region; V1 reports the last address of a script instead.
  let end: Int
  /// 8 bytes; zero if the device did not find the region.
  let hash: [UInt8]

  /// Whether the device has found the region and its hash.
  var isKnown: Bool { start < end && hash.contains { $0 != 0 } }
}

/// A notification of the device.
enum MicrobitNotice: Equatable, Sendable {
  /// The identity and the content of a region.
  case region(id: UInt8, MicrobitRegion)
  /// The block is written.
  case written
  /// A packet with an unexpected number arrived: the block must be sent again, with the next
  /// numbers.
  case outOfOrder
  /// The version of the service, and the mode.
  case status(version: UInt8, MicrobitMode)

  init(decoding bytes: [UInt8]) throws(MicrobitDecodeFault) {
    var reader = ByteReader(bytes, orThrow: MicrobitDecodeFault.cutOff(bytes: bytes.count))
    switch try reader.uint8() {
    case 0x00:
      let id = try reader.uint8()
      let start = Int(try reader.uint32().byteSwapped)
      let end = Int(try reader.uint32().byteSwapped)
      self = .region(
        id: id, MicrobitRegion(start: start, end: end, hash: Array(try reader.bytes(8))))
    case 0x01:
      switch try reader.uint8() {
      case 0xFF: self = .written
      case 0xAA: self = .outOfOrder
      case let other: throw .unknownState(other)
      }
    case 0xEE:
      let version = try reader.uint8()
      let mode = try reader.uint8()
      guard let known = MicrobitMode(rawValue: mode) else { throw .unknownMode(mode) }
      self = .status(version: version, known)
    case let other: throw .unknown(other)
    }
  }
}

/// An error in a notification; the description is a clause.
enum MicrobitDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case cutOff(bytes: Int)
  case unknown(UInt8)
  case unknownState(UInt8)
  case unknownMode(UInt8)

  var description: String {
    switch self {
    case .cutOff(let bytes): "a notification of \(bytes) bytes ends within its fields"
    case .unknown(let command):
      "a notification with command \(command), which the service does not define"
    case .unknownState(let state):
      "the block state \(state), which the service does not define"
    case .unknownMode(let mode): "the mode \(mode), which the service does not define"
    }
  }
}
