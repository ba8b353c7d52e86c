import OtaflashFirmware
import OtaflashWire

/// A request written to Control (docs/ota-service.md, 4).
package enum OTARequest: Equatable, Sendable {
  case info(hostVersion: UInt8)
  case running
  case resumePoint
  case challenge
  case authorize(proof: [UInt8])
  case begin(OTABegin)
  case rewind(offset: Int)
  case verify
  case activate
  case confirm
  case abort(discard: Bool)
  case patchInfo
  case patch(OTAPatch)
  case patchPoint

  package var opcode: UInt8 {
    switch self {
    case .info: 0x01
    case .running: 0x02
    case .resumePoint: 0x03
    case .challenge: 0x04
    case .authorize: 0x05
    case .begin: 0x06
    case .rewind: 0x07
    case .verify: 0x08
    case .activate: 0x09
    case .confirm: 0x0A
    case .abort: 0x0B
    case .patchInfo: 0x0D
    case .patch: 0x0E
    case .patchPoint: 0x0F
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode)
    switch self {
    case .info(let hostVersion): writer.uint8(hostVersion)
    case .authorize(let proof): writer.bytes(proof)
    case .begin(let begin): begin.encode(to: &writer)
    case .rewind(let offset): writer.uint32(UInt32(offset))
    case .abort(let discard): writer.uint8(discard ? 1 : 0)
    case .patch(let patch): patch.encode(to: &writer)
    case .running, .resumePoint, .challenge, .verify, .activate, .confirm, .patchInfo, .patchPoint:
      break
    }
    return writer.bytes
  }
}

/// The announcement in BEGIN.
package struct OTABegin: Equatable, Sendable {
  package struct Flags: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let restart = Flags(rawValue: 1)
    package static let allowDowngrade = Flags(rawValue: 2)
    package static let allowOtherHardware = Flags(rawValue: 4)
    package static let sink = Flags(rawValue: 8)
    /// The data is the patch stream that PATCH announced; not together with `sink`.
    package static let patch = Flags(rawValue: 16)
  }

  package var flags: Flags
  package var imageSize: Int
  package var imageCRC32: UInt32
  package var version: FirmwareVersion
  package var hardware: HardwareID

  package init(
    flags: Flags, imageSize: Int, imageCRC32: UInt32, version: FirmwareVersion,
    hardware: HardwareID
  ) {
    self.flags = flags
    self.imageSize = imageSize
    self.imageCRC32 = imageCRC32
    self.version = version
    self.hardware = hardware
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.uint8(flags.rawValue)
    writer.uint32(UInt32(imageSize))
    writer.uint32(imageCRC32)
    writer.uint8(version.major)
    writer.uint8(version.minor)
    writer.uint16(version.patch)
    writer.uint32(hardware.rawValue)
  }
}

/// An answer indicated by Control: `opcode | 0x80, result, payload`.
package struct OTAAnswer: Equatable, Sendable {
  package let opcode: UInt8
  package let result: UInt8
  package let payload: [UInt8]

  package init(decoding bytes: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(bytes, of: "Control")
    opcode = try reader.uint8()
    result = try reader.uint8()
    payload = Array(reader.rest)
  }
}

/// The answer to INFO.
package struct OTAInfo: Equatable, Sendable {
  package let version: UInt8
  package let needsAuthorization: Bool
  package let isAuthorized: Bool
  package let hasSink: Bool
  /// Whether the device supports PATCH INFO, PATCH, PATCH POINT and `OTABegin.Flags.patch`.
  package let takesPatches: Bool
  /// Whether the device erases pages of its slot before their data arrives.
  package let erasesAhead: Bool
  /// Whether the device neither erases nor writes a page that already holds its data.
  package let keepsPages: Bool
  package let hardware: HardwareID
  package let slotSize: Int
  package let pageSize: Int
  package let largestChunk: Int
  package let bufferSize: Int

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "INFO")
    version = try reader.uint8()
    let flags = try reader.uint8()
    needsAuthorization = flags & 1 != 0
    isAuthorized = flags & 2 != 0
    hasSink = flags & 4 != 0
    takesPatches = flags & 8 != 0
    erasesAhead = flags & 16 != 0
    keepsPages = flags & 32 != 0
    hardware = HardwareID(try reader.uint32())
    slotSize = Int(try reader.uint32())
    pageSize = Int(try reader.uint32())
    largestChunk = Int(try reader.uint16())
    bufferSize = Int(try reader.uint16())
  }
}

/// The answer to RUNNING.
package struct OTARunning: Equatable, Sendable {
  package enum BootOutcome: UInt8, Sendable {
    case normal = 0
    case activated, rejected
  }

  package let version: FirmwareVersion
  package let imageSize: Int
  package let imageCRC32: UInt32
  package let bootOutcome: BootOutcome
  package let isOnTrial: Bool

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "RUNNING")
    version = FirmwareVersion(
      try reader.uint8(), try reader.uint8(), try reader.uint16())
    imageSize = Int(try reader.uint32())
    imageCRC32 = try reader.uint32()
    let outcome = try reader.uint8()
    guard let known = BootOutcome(rawValue: outcome) else {
      throw .unknownValue("RUNNING boot outcome", outcome)
    }
    bootOutcome = known
    isOnTrial = try reader.uint8() != 0
  }
}

/// The answer to RESUME POINT; all values are zero if the device holds no unfinished session, or if
/// it holds a patch session.
package struct OTAResumePoint: Equatable, Sendable {
  package let imageSize: Int
  package let imageCRC32: UInt32
  package let nextOffset: Int
  package let heldCRC32: UInt32

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "RESUME POINT")
    imageSize = Int(try reader.uint32())
    imageCRC32 = try reader.uint32()
    nextOffset = Int(try reader.uint32())
    heldCRC32 = try reader.uint32()
  }
}

/// The progress of the device: the answer to BEGIN and REWIND.
package struct OTAPosition: Equatable, Sendable {
  package let nextOffset: Int
  package let crc32: UInt32

  package init(decoding payload: [UInt8]) throws(OTADecodeFault) {
    var reader = ByteReader(payload, of: "BEGIN or REWIND")
    nextOffset = Int(try reader.uint32())
    crc32 = try reader.uint32()
  }
}
