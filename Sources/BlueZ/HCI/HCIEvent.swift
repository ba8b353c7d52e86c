import OtaflashATT
import OtaflashWire

/// The HCI events that report the state of LE links (Core 5.4, Vol 4, Part E, 7.7).
enum HCIEvent: Equatable, Sendable {
  case commandComplete(opcode: UInt16, status: HCIStatus, parameters: [UInt8])
  case commandStatus(opcode: UInt16, status: HCIStatus)
  case connected(UInt16, to: BluetoothAddress, ConnectionTiming)
  case updated(UInt16, status: HCIStatus, ConnectionTiming)
  /// The number of payload bytes in the packets to the device.
  case dataLengthChanged(UInt16, bytes: UInt16)
  case phyUpdated(UInt16, status: HCIStatus, transmit: PHY?, receive: PHY?)
  case disconnected(UInt16)
  /// Any other event; it has no effect.
  case other(code: UInt8)

  static let packetType: UInt8 = 0x04
  /// The event codes for the socket's filter.
  static let codes: [UInt8] = [0x05, 0x0E, 0x0F, lowEnergy]
  private static let lowEnergy: UInt8 = 0x3E

  /// Decodes a packet.
  ///
  /// - Throws: `MgmtDecodeFault` if the packet is not an event or is shorter than its event.
  init(decoding bytes: [UInt8]) throws(MgmtDecodeFault) {
    var fields = MgmtFields(bytes[...])
    guard try fields.uint8() == Self.packetType else { throw MgmtDecodeFault() }
    let code = try fields.uint8()
    let length = try fields.uint8()
    guard fields.rest.count >= Int(length) else { throw MgmtDecodeFault() }
    switch code {
    case 0x05:
      _ = try fields.uint8()
      self = .disconnected(try fields.uint16())
    case 0x0E:
      _ = try fields.uint8()
      let opcode = try fields.uint16()
      // An event that only returns command credits has no opcode and no status.
      guard opcode != 0 else {
        self = .other(code: code)
        return
      }
      let status = HCIStatus(rawValue: try fields.uint8())
      self = .commandComplete(opcode: opcode, status: status, parameters: Array(fields.rest))
    case 0x0F:
      let status = HCIStatus(rawValue: try fields.uint8())
      _ = try fields.uint8()
      self = .commandStatus(opcode: try fields.uint16(), status: status)
    case Self.lowEnergy: self = try Self.meta(&fields)
    default: self = .other(code: code)
    }
  }

  /// Decodes an LE Meta event (7.7.65).
  private static func meta(_ fields: inout MgmtFields) throws(MgmtDecodeFault) -> HCIEvent {
    let subevent = try fields.uint8()
    switch subevent {
    case 0x01, 0x0A:
      // The enhanced event has two additional addresses between the peer's address and the
      // interval.
      return try connection(&fields, isEnhanced: subevent == 0x0A)
    case 0x03:
      let status = HCIStatus(rawValue: try fields.uint8())
      let handle = try fields.uint16()
      return .updated(handle, status: status, try ConnectionTiming(decoding: &fields))
    case 0x07: return .dataLengthChanged(try fields.uint16(), bytes: try fields.uint16())
    case 0x0C:
      let status = HCIStatus(rawValue: try fields.uint8())
      let handle = try fields.uint16()
      return .phyUpdated(
        handle, status: status, transmit: PHY(hci: try fields.uint8()),
        receive: PHY(hci: try fields.uint8()))
    default: return .other(code: lowEnergy)
    }
  }

  private static func connection(
    _ fields: inout MgmtFields, isEnhanced: Bool
  ) throws(MgmtDecodeFault) -> HCIEvent {
    let status = HCIStatus(rawValue: try fields.uint8())
    let handle = try fields.uint16()
    _ = try fields.uint8()
    let isRandom = try fields.uint8() & 1 != 0
    let address = Array(try fields.bytes(6))
    if isEnhanced { _ = try fields.bytes(12) }
    let timing = try ConnectionTiming(decoding: &fields)
    guard status == .success else { return .other(code: lowEnergy) }
    return .connected(
      handle, to: BluetoothAddress(checked: address, kind: isRandom ? .random : .publicDevice),
      timing)
  }
}

/// The timing of connection events (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
struct ConnectionTiming: Equatable, Sendable {
  /// The connection interval in units of 1.25 ms.
  let interval: UInt16
  /// The number of connection events that the device may skip.
  let latency: UInt16
  /// The supervision timeout in units of 10 ms.
  let supervisionTimeout: UInt16

  init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  fileprivate init(decoding fields: inout MgmtFields) throws(MgmtDecodeFault) {
    interval = try fields.uint16()
    latency = try fields.uint16()
    supervisionTimeout = try fields.uint16()
  }
}

/// The status of a controller's response (Core 5.4, Vol 1, Part F, 1.3).
struct HCIStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  let rawValue: UInt8

  static let success = HCIStatus(rawValue: 0x00)

  private static let texts: [UInt8: String] = [
    0x01: "unknown command", 0x02: "unknown connection", 0x0C: "disallowed now",
    0x11: "unsupported feature", 0x12: "invalid parameters",
    0x1A: "the device does not support the feature", 0x1F: "unspecified error",
    0x20: "unsupported value",
    0x23: "another procedure runs", 0x2A: "another procedure runs", 0x3B: "unacceptable parameters",
  ]

  var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    let code = "HCI error 0x" + (rawValue < 16 ? "0" : "") + digits
    return Self.texts[rawValue].map { "\($0) (\(code))" } ?? code
  }
}
