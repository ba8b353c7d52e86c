import OtaflashWire

/// Operations of the Control Point. A device echoes an unknown opcode in its refusal, so every byte
/// is valid.
package struct SecureDFUOpcode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let protocolVersion = SecureDFUOpcode(rawValue: 0x00)
  package static let create = SecureDFUOpcode(rawValue: 0x01)
  package static let setReceiptNotification = SecureDFUOpcode(rawValue: 0x02)
  package static let checksum = SecureDFUOpcode(rawValue: 0x03)
  package static let execute = SecureDFUOpcode(rawValue: 0x04)
  package static let select = SecureDFUOpcode(rawValue: 0x06)
  package static let mtu = SecureDFUOpcode(rawValue: 0x07)
  package static let ping = SecureDFUOpcode(rawValue: 0x09)
  package static let hardwareVersion = SecureDFUOpcode(rawValue: 0x0A)
  package static let firmwareVersion = SecureDFUOpcode(rawValue: 0x0B)
  package static let abort = SecureDFUOpcode(rawValue: 0x0C)
  /// The first byte of every response.
  package static let response = SecureDFUOpcode(rawValue: 0x60)
}

/// A request written to the Control Point. Opcode 8, which writes object bytes, belongs to the
/// serial transports; over Bluetooth LE, object bytes go to the Packet characteristic.
package enum SecureDFURequest: Equatable, Sendable {
  case protocolVersion
  /// Makes an object of `size` bytes the current object, and discards unexecuted objects.
  case create(SecureDFUObjectType, size: UInt32)
  /// Requests a receipt after every `packets` packets; 0 = no receipts.
  case setReceiptNotification(packets: UInt16)
  /// Requests the progress (`SecureDFUProgress`) with objects of the type that was selected or
  /// created last.
  case checksum
  case execute
  case select(SecureDFUObjectType)
  case mtu
  case ping(UInt8)
  case hardwareVersion
  case firmwareVersion(image: UInt8)
  case abort

  package var opcode: SecureDFUOpcode {
    switch self {
    case .protocolVersion: .protocolVersion
    case .create: .create
    case .setReceiptNotification: .setReceiptNotification
    case .checksum: .checksum
    case .execute: .execute
    case .select: .select
    case .mtu: .mtu
    case .ping: .ping
    case .hardwareVersion: .hardwareVersion
    case .firmwareVersion: .firmwareVersion
    case .abort: .abort
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .create(let type, let size):
      writer.uint8(type.rawValue)
      writer.uint32(size)
    case .setReceiptNotification(let packets): writer.uint16(packets)
    case .select(let type): writer.uint8(type.rawValue)
    case .ping(let id): writer.uint8(id)
    case .firmwareVersion(let image): writer.uint8(image)
    case .protocolVersion, .checksum, .execute, .mtu, .hardwareVersion, .abort: break
    }
    return writer.bytes
  }

  /// Decodes a request, for the simulated device.
  ///
  /// - Throws: `.unknownOpcode`, `.unknownValue` for an object type, `.wrongLength`, `.empty`.
  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    guard let first = bytes.first else { throw .empty }
    let opcode = SecureDFUOpcode(rawValue: first)
    guard let message = opcode.request else { throw .unknownOpcode(first) }
    var reader = try ByteReader(
      Array(bytes.dropFirst()), of: message.name, expecting: message.parameters)
    switch opcode {
    case .create:
      let type = try SecureDFUObjectType(field: reader.uint8())
      self = try .create(type, size: reader.uint32())
    case .setReceiptNotification: self = try .setReceiptNotification(packets: reader.uint16())
    case .checksum: self = .checksum
    case .execute: self = .execute
    case .select: self = .select(try SecureDFUObjectType(field: reader.uint8()))
    case .mtu: self = .mtu
    case .ping: self = try .ping(reader.uint8())
    case .hardwareVersion: self = .hardwareVersion
    case .firmwareVersion: self = try .firmwareVersion(image: reader.uint8())
    case .abort: self = .abort
    default: self = .protocolVersion
    }
  }
}

extension SecureDFUOpcode {
  /// The name of the request and the size of its parameters in bytes; `nil` for other opcodes.
  fileprivate var request: (name: String, parameters: Int)? {
    switch self {
    case .protocolVersion: ("protocol version", 0)
    case .create: ("create", 5)
    case .setReceiptNotification: ("set receipt notification", 2)
    case .checksum: ("checksum", 0)
    case .execute: ("execute", 0)
    case .select: ("select", 1)
    case .mtu: ("MTU", 0)
    case .ping: ("ping", 1)
    case .hardwareVersion: ("hardware version", 0)
    case .firmwareVersion: ("firmware version", 1)
    case .abort: ("abort", 0)
    default: nil
    }
  }
}

extension SecureDFUObjectType {
  fileprivate init(field: UInt8) throws(DFUDecodeFault) {
    guard let type = SecureDFUObjectType(rawValue: field) else {
      throw .unknownValue("object type", field)
    }
    self = type
  }
}

extension SecureDFUOpcode: CustomStringConvertible {
  /// The display name of the operation.
  package var description: String { request?.name ?? "operation \(rawValue)" }
}
