import OtaflashWire

/// What this side of a pairing can show and ask (Core 5.4, Vol 3, Part H, 2.3.2); the two sides'
/// together decide how they are paired.
public enum IOCapability: UInt8, Sendable, CaseIterable {
  /// Shows digits.
  case displayOnly = 0
  /// Shows digits, and can be asked yes or no.
  case displayYesNo = 1
  /// Takes digits.
  case keyboardOnly = 2
  /// Pairing is "Just Works": encrypted, not protected against a man in the middle.
  case noInputNoOutput = 3
  /// Shows digits and takes some.
  case keyboardDisplay = 4
}

/// What the kernel says, or asks, about a pairing (kernel mgmt.h).
package enum PairingEvent: Equatable, Sendable {
  /// Keys for a device. Not kept when the devices do not bond.
  case newLongTermKey(LongTermKey, isToBeKept: Bool)
  case newIdentityResolvingKey(
    IdentityResolvingKey, usedAddress: BluetoothAddress?, isToBeKept: Bool)
  /// `value` is to be compared by a person; with `isHint` there is nothing to compare.
  case confirmationRequest(BluetoothAddress, value: UInt32, isHint: Bool)
  case passkeyRequest(BluetoothAddress)
  /// The passkey that is to be typed in at the device.
  case passkeyNotification(BluetoothAddress, passkey: UInt32)
  case authenticationFailed(BluetoothAddress, MgmtStatus)
  case disconnected(BluetoothAddress, DisconnectReason)

  /// Why the kernel gave up a link.
  package enum DisconnectReason: Equatable, Sendable {
    case timedOut, byThisComputer, byDevice
    /// The keys did not fit: the device has forgotten the pairing.
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

  /// `nil` when the event is none of a pairing, or one of BR/EDR.
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
