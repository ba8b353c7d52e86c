import OtaflashWire

/// An error in an answer of Espressif's OTA service; the description is a clause.
package enum EspressifDecodeFault: Error, Equatable, Sendable, CustomStringConvertible {
  case tooShort(bytes: Int)
  case wrongChecksum(UInt16, expected: UInt16)
  case notAnAnswer(UInt16)

  package var description: String {
    switch self {
    case .tooShort(let bytes): "an answer has \(bytes) bytes, not 20"
    case .wrongChecksum: "the CRC of an answer is wrong"
    case .notAnAnswer(let id): "an answer has the id \(id), not 3"
    }
  }
}

/// A command of 20 bytes: id, parameters, and the CRC of both.
package enum EspressifCommand: Equatable, Sendable {
  /// Starts the transfer of an image with this number of bytes.
  case start(length: UInt32)
  case stop

  package var id: UInt16 {
    switch self {
    case .start: 1
    case .stop: 2
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint16(id)
    if case .start(let length) = self { writer.uint32(length) }
    writer.bytes([UInt8](repeating: 0, count: EspressifAnswer.size - 2 - writer.bytes.count))
    writer.uint16(EspressifChecksum.checksum(writer.bytes))
    return writer.bytes
  }
}

/// The frame of all answers: 18 bytes and their CRC.
private enum EspressifAnswer {
  static let size = 20

  static func reader(
    _ bytes: [UInt8]
  ) throws(EspressifDecodeFault) -> ByteReader<EspressifDecodeFault> {
    guard bytes.count == size else { throw .tooShort(bytes: bytes.count) }
    var end = ByteReader(bytes.suffix(2), orThrow: EspressifDecodeFault.tooShort(bytes: 0))
    let stated = try end.uint16()
    let computed = EspressifChecksum.checksum(bytes.dropLast(2))
    guard stated == computed else { throw .wrongChecksum(stated, expected: computed) }
    return ByteReader(bytes, orThrow: .tooShort(bytes: bytes.count))
  }
}

/// The status of a sector or a command; a device may report an unknown value.
package struct EspressifStatus: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The sector or the command is accepted.
  package static let accepted = EspressifStatus(rawValue: 0)
  /// The CRC of the sector is wrong; also a rejected command.
  package static let rejected = EspressifStatus(rawValue: 1)
  /// The device expects another sector.
  package static let wrongSector = EspressifStatus(rawValue: 2)
  /// The sector has a wrong length or order; also a wrong signature.
  package static let wrongLength = EspressifStatus(rawValue: 3)
  /// The device cannot start an update.
  package static let cannotStart = EspressifStatus(rawValue: 5)
}

/// The answer to a command: `0003 id status window`.
package struct EspressifCommandAnswer: Equatable, Sendable {
  package let id: UInt16
  package let status: EspressifStatus
  /// The number of sectors that the host may send before an answer; 0 = not stated.
  package let window: UInt8

  package init(decoding bytes: [UInt8]) throws(EspressifDecodeFault) {
    var reader = try EspressifAnswer.reader(bytes)
    let kind = try reader.uint16()
    guard kind == 3 else { throw .notAnAnswer(kind) }
    id = try reader.uint16()
    status = EspressifStatus(rawValue: try reader.uint16())
    window = try reader.uint8()
  }
}

/// The answer to a sector: `sector status wanted`. Only with the status "wrong sector", `wanted` is
/// the expected sector: the implementations disagree about its value in other answers.
package struct EspressifSectorAnswer: Equatable, Sendable {
  package let sector: UInt16
  package let status: EspressifStatus
  package let wanted: UInt16

  package init(decoding bytes: [UInt8]) throws(EspressifDecodeFault) {
    var reader = try EspressifAnswer.reader(bytes)
    sector = try reader.uint16()
    status = EspressifStatus(rawValue: try reader.uint16())
    wanted = try reader.uint16()
  }
}
