import OtaflashWire

/// A notification of Control.
enum OADNotice: Equatable, Sendable {
  /// The size of a block in bytes, including the block number.
  case blockSize(Int)
  /// The version of the running software, 4 bytes, or 6 bytes with MCUboot.
  case softwareVersion([UInt8])
  /// The status of the previous block, and the number of the next block.
  case request(OADStatus, block: Int)
  /// The status of a command. With MCUboot, 0 and 1 are the events of Image Identify and Image
  /// Block.
  case status(UInt8, OADStatus)
  /// The device does not know the command.
  case notSupported

  /// The event of a block that the device did not expect.
  static let blockEvent: UInt8 = 0x01
  private static let blockRequest: UInt8 = 0x12
  private static let unknown: UInt8 = 0xFF
  private static let versionSizes = [4, 6]

  init(decoding bytes: [UInt8]) throws(OADDecodeFault) {
    var reader = ByteReader(bytes, orThrow: OADDecodeFault.cutOff(bytes: bytes.count))
    let command = try reader.uint8()
    switch (command, bytes.count) {
    case (Self.unknown, 1): self = .notSupported
    case (Self.blockRequest, _):
      let status = OADStatus(rawValue: try reader.uint8())
      self = .request(status, block: Int(try reader.uint32()))
    case (OADCommand.softwareVersion.rawValue, let count)
    where Self.versionSizes.contains(count - 1):
      self = .softwareVersion(Array(bytes.dropFirst()))
    case (OADCommand.blockSize.rawValue, 3): self = .blockSize(Int(try reader.uint16()))
    case (_, 2): self = .status(command, OADStatus(rawValue: try reader.uint8()))
    case (_, 1): throw .cutOff(bytes: 1)
    default: throw .unknown(command, bytes: bytes.count)
    }
  }
}

/// An error in a notification; the description is a clause.
enum OADDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case cutOff(bytes: Int)
  case unknown(UInt8, bytes: Int)

  var description: String {
    switch self {
    case .cutOff(let bytes): "a notification of \(bytes) bytes ends within its fields"
    case .unknown(let command, let bytes):
      "a notification of \(bytes) bytes for command \(command), which the profile does not define"
    }
  }
}

/// A status of the profile.
struct OADStatus: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  static let success = OADStatus(rawValue: 0)
  static let checksum = OADStatus(rawValue: 1)
  static let flash = OADStatus(rawValue: 2)
  static let overflow = OADStatus(rawValue: 3)
  static let alreadyStarted = OADStatus(rawValue: 4)
  static let notStarted = OADStatus(rawValue: 5)
  static let incomplete = OADStatus(rawValue: 6)
  static let noResources = OADStatus(rawValue: 7)
  static let tooLarge = OADStatus(rawValue: 8)
  static let incompatibleImage = OADStatus(rawValue: 9)
  static let invalidFile = OADStatus(rawValue: 10)
  static let incompatibleFile = OADStatus(rawValue: 11)
  static let authentication = OADStatus(rawValue: 12)
  static let notSupported = OADStatus(rawValue: 13)
  static let complete = OADStatus(rawValue: 14)
  static let notConfigured = OADStatus(rawValue: 15)
  static let identifyRetries = OADStatus(rawValue: 16)
  static let stopped = OADStatus(rawValue: 17)
  static let internalError = OADStatus(rawValue: 18)

  /// Whether a block was lost, so that a slower transfer may help: the device received an
  /// unexpected block, or has discarded the transfer for lack of memory.
  var showsLoss: Bool { [.overflow, .notStarted, .alreadyStarted, .noResources].contains(self) }
}
