import OtaflashWire

/// The input and output capabilities of one device of a pairing (Core 5.4, Vol 3, Part H, 2.3.2).
/// The capabilities of both devices determine the pairing method.
public enum IOCapability: UInt8, Sendable, CaseIterable {
  /// The device displays digits.
  case displayOnly = 0
  /// The device displays digits, and accepts yes or no.
  case displayYesNo = 1
  /// The device accepts digits.
  case keyboardOnly = 2
  /// The device has neither input nor output. The pairing method is "Just Works": encrypted, but
  /// not protected against a man in the middle.
  case noInputNoOutput = 3
  /// The device displays and accepts digits.
  case keyboardDisplay = 4
}

/// An event or a request of the kernel about a pairing (kernel mgmt.h).
package enum PairingEvent: Equatable, Sendable {
  /// A new Long Term Key of a device. In this case and the next case, the key is stored only if
  /// `isToBeKept` is true.
  case newLongTermKey(LongTermKey, isToBeKept: Bool)
  case newIdentityResolvingKey(
    IdentityResolvingKey, usedAddress: BluetoothAddress?, isToBeKept: Bool)
  /// The user must compare `value` with the value that the device shows. If `isHint` is true, the
  /// device shows no value, and the user only gives consent.
  case confirmationRequest(BluetoothAddress, value: UInt32, isHint: Bool)
  case passkeyRequest(BluetoothAddress)
  /// The passkey that the user must enter on the device.
  case passkeyNotification(BluetoothAddress, passkey: UInt32)
  case authenticationFailed(BluetoothAddress, MgmtStatus)
  case disconnected(BluetoothAddress, DisconnectReason)

  /// The reason that the kernel reports for the end of a link.
  package enum DisconnectReason: Equatable, Sendable {
    case timedOut, byThisComputer, byDevice
    /// The keys did not match: the device has forgotten the pairing.
    case authenticationFailure
    case unknown

    init(rawValue: UInt8) {
      switch rawValue {
      case 1: self = .timedOut
      case 2, 5: self = .byThisComputer
      case 3: self = .byDevice
      case 4: self = .authenticationFailure
      default: self = .unknown
      }
    }
  }

  /// Decodes an event; returns `nil` if the event does not concern a pairing, or concerns BR/EDR.
  init?(code: UInt16, fields: inout MgmtFields) throws(MgmtDecodeFault) {
    switch code {
    case 0x000A:
      let isToBeKept = try fields.uint8() != 0
      guard let key = try LongTermKey.decode(&fields) else { return nil }
      self = .newLongTermKey(key, isToBeKept: isToBeKept)
    case 0x0018:
      let isToBeKept = try fields.uint8() != 0
      let used = try fields.bytes(6)
      guard let key = try IdentityResolvingKey.decode(&fields) else { return nil }
      self = .newIdentityResolvingKey(
        key, usedAddress: BluetoothAddress(littleEndian: used, kind: .random),
        isToBeKept: isToBeKept)
    case 0x000C, 0x000F, 0x0010, 0x0011, 0x0017:
      guard let device = try fields.address() else { return nil }
      self = try Self.about(device, code: code, fields: &fields)
    default: return nil
    }
  }

  private static func about(
    _ device: BluetoothAddress, code: UInt16, fields: inout MgmtFields
  ) throws(MgmtDecodeFault) -> PairingEvent {
    switch code {
    case 0x000C: return .disconnected(device, DisconnectReason(rawValue: try fields.uint8()))
    case 0x000F:
      let isHint = try fields.uint8() != 0
      return .confirmationRequest(device, value: try fields.uint32(), isHint: isHint)
    case 0x0010: return .passkeyRequest(device)
    case 0x0011:
      return .authenticationFailed(device, MgmtStatus(rawValue: try fields.uint8()))
    default: return .passkeyNotification(device, passkey: try fields.uint32())
    }
  }
}
