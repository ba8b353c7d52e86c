import OtaflashWire

/// A notification of the device.
enum TelinkNotice: Equatable, Sendable {
  /// The version of the product on the device, and whether the device accepts the version of the
  /// request.
  case version(UInt16, isAccepted: Bool)
  /// The result, with which the transfer ends.
  case result(TelinkResult)
  /// The number of PDUs that the device has accepted.
  case acceptedPDUs(Int)
  /// The number of bytes that the device has accepted.
  case acceptedBytes(Int)

  init(decoding bytes: [UInt8]) throws(TelinkDecodeFault) {
    var reader = ByteReader(bytes, orThrow: TelinkDecodeFault.cutOff(bytes: bytes.count))
    switch try reader.uint16() {
    case 0xFF05:
      self = .version(try reader.uint16(), isAccepted: try reader.uint8() != 0)
    case 0xFF06: self = .result(TelinkResult(rawValue: try reader.uint8()))
    case 0xFF08: self = .acceptedPDUs(Int(try reader.uint16()))
    case 0xFF09: self = .acceptedBytes(Int(try reader.uint32()))
    case let other: throw .unknown(other)
    }
  }
}

/// An error in a notification; the description is a clause.
enum TelinkDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case cutOff(bytes: Int)
  case unknown(UInt16)

  var description: String {
    switch self {
    case .cutOff(let bytes): "a notification of \(bytes) bytes ends within its fields"
    case .unknown(let word): "the notification \(word), which the service does not define"
    }
  }
}

/// The result of a transfer.
struct TelinkResult: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  static let success = TelinkResult(rawValue: 0)
  static let sequence = TelinkResult(rawValue: 1)
  static let invalidPacket = TelinkResult(rawValue: 2)
  static let packetChecksum = TelinkResult(rawValue: 3)
  static let flashVerify = TelinkResult(rawValue: 4)
  static let incomplete = TelinkResult(rawValue: 5)
  static let flow = TelinkResult(rawValue: 6)
  static let imageChecksum = TelinkResult(rawValue: 7)
  static let version = TelinkResult(rawValue: 8)
  static let packetLength = TelinkResult(rawValue: 9)
  static let mark = TelinkResult(rawValue: 0x0A)
  static let size = TelinkResult(rawValue: 0x0B)
  static let packetTimeout = TelinkResult(rawValue: 0x0C)
  static let totalTimeout = TelinkResult(rawValue: 0x0D)
  static let connectionEnded = TelinkResult(rawValue: 0x0E)
  static let notSupported = TelinkResult(rawValue: 0x0F)
  static let logic = TelinkResult(rawValue: 0x10)

  /// Whether a transfer that starts over may succeed, because a lost or damaged packet can cause
  /// this result.
  var mayPass: Bool {
    [
      .sequence, .invalidPacket, .packetChecksum, .packetLength, .flow, .packetTimeout,
      .connectionEnded,
    ].contains(self)
  }

  /// Whether the device may accept shorter PDUs after this result.
  var rejectsLength: Bool { [.packetLength, .notSupported, .invalidPacket].contains(self) }
}
