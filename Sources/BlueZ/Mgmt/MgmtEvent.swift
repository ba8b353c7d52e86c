import OtaflashATT
import OtaflashWire

/// A packet from the kernel's management interface.
struct MgmtPacket: Equatable, Sendable {
  /// The adapter's number (`hci0` is 0), or `MgmtCommand.noIndex`.
  let index: UInt16
  let event: MgmtEvent

  init(index: UInt16, event: MgmtEvent) {
    self.index = index
    self.event = event
  }

  /// Decodes a packet.
  ///
  /// - Throws: `MgmtDecodeFault` if the packet is shorter than its event, or does not have the
  ///   length that its length field states.
  init(decoding bytes: [UInt8]) throws(MgmtDecodeFault) {
    var fields = MgmtFields(bytes[...])
    let code = try fields.uint16()
    index = try fields.uint16()
    let length = try fields.uint16()
    guard fields.rest.count == length else { throw MgmtDecodeFault() }
    event = try MgmtEvent(code: code, fields: &fields)
  }
}

/// The events that otaflash reads (kernel mgmt.h).
enum MgmtEvent: Equatable, Sendable {
  case commandComplete(opcode: UInt16, status: MgmtStatus, parameters: [UInt8])
  case commandStatus(opcode: UInt16, status: MgmtStatus)
  case indexAdded
  case indexRemoved
  case newSettings(MgmtSettings)
  case deviceFound(AdvertisingReport)
  case discovering(Bool)
  case pairing(PairingEvent)
  /// Any other event; it has no effect.
  case other(code: UInt16)

  /// The relevant flags of Device Found (kernel mgmt.h, MGMT_DEV_FOUND_*).
  private static let notConnectable: UInt32 = 1 << 2
  private static let scanResponse: UInt32 = 1 << 5

  init(code: UInt16, fields: inout MgmtFields) throws(MgmtDecodeFault) {
    switch code {
    case 0x0001:
      let opcode = try fields.uint16()
      self = .commandComplete(
        opcode: opcode, status: MgmtStatus(rawValue: try fields.uint8()),
        parameters: Array(fields.rest))
    case 0x0002:
      let opcode = try fields.uint16()
      self = .commandStatus(opcode: opcode, status: MgmtStatus(rawValue: try fields.uint8()))
    case 0x0004: self = .indexAdded
    case 0x0005: self = .indexRemoved
    case 0x0006: self = .newSettings(MgmtSettings(rawValue: try fields.uint32()))
    case 0x0012: self = try Self.deviceFound(&fields)
    case 0x0013:
      _ = try fields.uint8()
      self = .discovering(try fields.uint8() != 0)
    default:
      self = try PairingEvent(code: code, fields: &fields).map(Self.pairing) ?? .other(code: code)
    }
  }

  private static func deviceFound(
    _ fields: inout MgmtFields
  ) throws(MgmtDecodeFault) -> MgmtEvent {
    let bytes = try fields.bytes(6)
    let type = try fields.uint8()
    let rssi = Int8(bitPattern: try fields.uint8())
    let flags = try fields.uint32()
    let length = try fields.uint16()
    let data = try fields.bytes(Int(length))
    // Type 0 is BR/EDR, which otaflash does not support.
    guard let kind = BluetoothAddress.Kind(rawValue: type) else { return .other(code: 0x0012) }
    return .deviceFound(
      AdvertisingReport(
        address: BluetoothAddress(checked: Array(bytes), kind: kind),
        rssi: rssi == 127 ? nil : rssi, advertising: AdvertisingData(decoding: data),
        isConnectable: flags & Self.scanResponse != 0 ? nil : flags & Self.notConnectable == 0))
  }
}

/// One advertisement, as the kernel reports it.
struct AdvertisingReport: Equatable, Sendable {
  let address: BluetoothAddress
  /// The signal strength in dBm; `nil` if the controller did not measure it.
  let rssi: Int8?
  let advertising: AdvertisingData
  /// Whether the device accepts connections; `nil` in a separate scan response, which does not
  /// contain this information.
  let isConnectable: Bool?
}

/// The settings of an adapter, as bits (kernel mgmt.h).
package struct MgmtSettings: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let powered = MgmtSettings(rawValue: 1 << 0)
  package static let bondable = MgmtSettings(rawValue: 1 << 4)
  package static let lowEnergy = MgmtSettings(rawValue: 1 << 9)
  package static let advertising = MgmtSettings(rawValue: 1 << 10)
  package static let secureConnections = MgmtSettings(rawValue: 1 << 11)
}

/// The response to Read Controller Information.
package struct ControllerInformation: Equatable, Sendable {
  package let address: BluetoothAddress
  /// The Core version that the controller reports, as an assigned number (9 is version 5.0).
  package let version: UInt8
  package let manufacturer: UInt16
  package let supported: MgmtSettings
  package let current: MgmtSettings

  package init(decoding bytes: [UInt8]) throws(MgmtDecodeFault) {
    var fields = MgmtFields(bytes[...])
    address = BluetoothAddress(checked: Array(try fields.bytes(6)), kind: .publicDevice)
    version = try fields.uint8()
    manufacturer = try fields.uint16()
    supported = MgmtSettings(rawValue: try fields.uint32())
    current = MgmtSettings(rawValue: try fields.uint32())
  }
}
