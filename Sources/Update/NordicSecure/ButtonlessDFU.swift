import OtaflashATT
import OtaflashWire

/// The variants of the request to restart an application into its bootloader.
package enum ButtonlessVariant: Equatable, Hashable, Sendable, CaseIterable {
  /// The bootloader advertises from an address whose last byte is one higher than the last byte of
  /// the application.
  case withoutBonds
  /// The bootloader keeps the address and the keys; the link must be encrypted.
  case withBonds
  /// The experimental service of SDK 12, which only supports the request to enter the bootloader,
  /// and answers it by a notification.
  case experimental

  package var service: BluetoothUUID {
    switch self {
    case .withoutBonds, .withBonds: SecureDFU.service
    case .experimental: "8e400001-f315-4f60-9fb8-838830daea50"
    }
  }

  package var characteristic: BluetoothUUID {
    switch self {
    case .withoutBonds: "8ec90003-f315-4f60-9fb8-838830daea50"
    case .withBonds: "8ec90004-f315-4f60-9fb8-838830daea50"
    case .experimental: "8e400001-f315-4f60-9fb8-838830daea50"
    }
  }

  /// Whether the host can set the name in the bootloader's advertisements.
  package var takesName: Bool { self == .withoutBonds }
}

/// A request written to the Buttonless DFU characteristic.
package enum ButtonlessRequest: Equatable, Sendable {
  /// The longest name in bytes.
  package static let nameSizeMaximum = 20

  case enterBootloader
  /// Sets the name in the bootloader's advertisements for the next start: 1…20 bytes of UTF-8.
  case setAdvertisedName(String)

  package var opcode: UInt8 {
    switch self {
    case .enterBootloader: 0x01
    case .setAdvertisedName: 0x02
    }
  }

  package var encoded: [UInt8] {
    switch self {
    case .enterBootloader: return [opcode]
    case .setAdvertisedName(let name):
      let bytes = Array(name.utf8)
      precondition((1...Self.nameSizeMaximum).contains(bytes.count))
      return [opcode, UInt8(bytes.count)] + bytes
    }
  }

  /// Decodes a request, for the simulated device.
  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    switch bytes.first {
    case nil: throw .empty
    case 0x01:
      guard bytes.count == 1 else {
        throw .wrongLength("enter bootloader", bytes: bytes.count, expected: 1)
      }
      self = .enterBootloader
    case 0x02:
      let size = bytes.count > 1 ? Int(bytes[1]) : 0
      guard bytes.count == 2 + size, (1...Self.nameSizeMaximum).contains(size) else {
        throw .wrongLength("set advertised name", bytes: bytes.count, expected: 2 + size)
      }
      self = .setAdvertisedName(String(decoding: bytes[2...], as: UTF8.self))
    case .some(let opcode): throw .unknownOpcode(opcode)
    }
  }
}

/// The answer to a request: `20 opcode status`. The device sends it as an indication or, in the
/// experimental service, as a notification.
package struct ButtonlessResponse: Equatable, Sendable {
  package enum Status: UInt8, Sendable, CaseIterable {
    case success = 0x01
    case opcodeNotSupported = 0x02
    case operationFailed = 0x04
    case invalidName = 0x05
    case busy = 0x06
    case notBonded = 0x07
  }

  private static let code: UInt8 = 0x20

  package let opcode: UInt8
  package let status: Status

  package init(opcode: UInt8, status: Status) {
    self.opcode = opcode
    self.status = status
  }

  package init(decoding bytes: [UInt8]) throws(DFUDecodeFault) {
    var reader = try ByteReader(bytes, of: "buttonless response", expecting: 3)
    let code = try reader.uint8()
    guard code == Self.code else { throw .unknownOpcode(code) }
    opcode = try reader.uint8()
    let value = try reader.uint8()
    guard let status = Status(rawValue: value) else { throw .unknownValue("status", value) }
    self.status = status
  }

  package var encoded: [UInt8] { [Self.code, opcode, status.rawValue] }
}
