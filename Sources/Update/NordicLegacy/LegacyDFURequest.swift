import OtaflashWire

/// Operations of the Control Point. A device echoes an unknown opcode in its refusal, so every byte
/// is valid.
package struct LegacyDFUOpcode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let start = LegacyDFUOpcode(rawValue: 0x01)
  package static let initPacket = LegacyDFUOpcode(rawValue: 0x02)
  package static let receive = LegacyDFUOpcode(rawValue: 0x03)
  package static let validate = LegacyDFUOpcode(rawValue: 0x04)
  package static let activate = LegacyDFUOpcode(rawValue: 0x05)
  package static let reset = LegacyDFUOpcode(rawValue: 0x06)
  package static let reportReceived = LegacyDFUOpcode(rawValue: 0x07)
  package static let setReceiptNotification = LegacyDFUOpcode(rawValue: 0x08)
  /// The first byte of every response.
  package static let response = LegacyDFUOpcode(rawValue: 0x10)
  /// The first byte of every receipt.
  package static let receipt = LegacyDFUOpcode(rawValue: 0x11)
}

/// A request written to the Control Point.
package enum LegacyDFURequest: Equatable, Sendable {
  /// Starts a transfer. The sizes follow as a packet, which the device answers. In an application,
  /// `[.application]` requests a restart into the bootloader.
  case start(LegacyDFUParts)
  /// Starts the init packet, whose bytes follow as packets.
  case initPacketBegin
  /// Ends the init packet. The device answers this request.
  case initPacketEnd
  /// Starts the image, which follows as packets. The device answers after the last packet.
  case receive
  case validate
  /// Activates the image. The device restarts without an answer.
  case activate
  case reset
  case reportReceived
  /// Requests a receipt after every `packets` packets; 0 = no receipts. Some devices evaluate only
  /// the low byte.
  case setReceiptNotification(packets: UInt16)

  package var opcode: LegacyDFUOpcode {
    switch self {
    case .start: .start
    case .initPacketBegin, .initPacketEnd: .initPacket
    case .receive: .receive
    case .validate: .validate
    case .activate: .activate
    case .reset: .reset
    case .reportReceived: .reportReceived
    case .setReceiptNotification: .setReceiptNotification
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.uint8(opcode.rawValue)
    switch self {
    case .start(let parts): writer.uint8(parts.rawValue)
    case .initPacketBegin: writer.uint8(0)
    case .initPacketEnd: writer.uint8(1)
    case .setReceiptNotification(let packets): writer.uint16(packets)
    case .receive, .validate, .activate, .reset, .reportReceived: break
    }
    return writer.bytes
  }

  /// Decodes a request, for the simulated device.
  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    guard let first = bytes.first else { throw .empty }
    let opcode = LegacyDFUOpcode(rawValue: first)
    guard let message = opcode.request else { throw .unknownOpcode(first) }
    var reader = try ByteReader(
      Array(bytes.dropFirst()), of: message.name, expecting: message.parameters)
    switch opcode {
    case .start: self = try .start(LegacyDFUParts(rawValue: reader.uint8()))
    case .initPacket:
      let phase = try reader.uint8()
      guard phase <= 1 else { throw .unknownValue("init packet phase", phase) }
      self = phase == 0 ? .initPacketBegin : .initPacketEnd
    case .receive: self = .receive
    case .validate: self = .validate
    case .activate: self = .activate
    case .reset: self = .reset
    case .setReceiptNotification: self = try .setReceiptNotification(packets: reader.uint16())
    default: self = .reportReceived
    }
  }
}

extension LegacyDFUOpcode {
  /// The name of the request and the size of its parameters in bytes; `nil` for other opcodes.
  fileprivate var request: (name: String, parameters: Int)? {
    switch self {
    case .start: ("start", 1)
    case .initPacket: ("init packet", 1)
    case .receive: ("receive", 0)
    case .validate: ("validate", 0)
    case .activate: ("activate", 0)
    case .reset: ("reset", 0)
    case .reportReceived: ("report received", 0)
    case .setReceiptNotification: ("set receipt notification", 2)
    default: nil
    }
  }
}

extension LegacyDFUOpcode: CustomStringConvertible {
  /// The display name of the operation.
  package var description: String { request?.name ?? "operation \(rawValue)" }
}
