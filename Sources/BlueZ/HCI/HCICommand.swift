import OtaflashATT

/// The HCI commands that tune an existing link (Core 5.4, Vol 4, Part E, 7.8).
///
/// libbluetooth's `hci_le_conn_update` is not used: it limits connection events to 0.625 ms, so a
/// controller that complies sends one packet in each event.
enum HCICommand: Equatable, Sendable {
  /// LE Connection Update (7.8.18).
  case updateConnection(UInt16, MgmtConnectionParameters)
  /// LE Set Data Length (7.8.33): the payload bytes in one packet, and the maximum time of a packet
  /// on air.
  case setDataLength(UInt16, bytes: UInt16, microseconds: UInt16)
  /// LE Read PHY (7.8.47).
  case readPHY(UInt16)
  /// LE Set PHY (7.8.49), for both directions.
  case setPHY(UInt16, PHY)

  private static let packetType: UInt8 = 0x01

  var opcode: UInt16 {
    switch self {
    case .updateConnection: 0x2013
    case .setDataLength: 0x2022
    case .readPHY: 0x2030
    case .setPHY: 0x2032
    }
  }

  /// The complete packet for a raw HCI socket.
  var encoded: [UInt8] {
    let parameters = parameters
    return [Self.packetType] + opcode.bytes + [UInt8(parameters.count)] + parameters
  }

  private var parameters: [UInt8] {
    switch self {
    case .updateConnection(let handle, let wanted):
      // Both connection event lengths are 0, which means "no preference", as in the kernel.
      handle.bytes + wanted.intervalMinimum.bytes + wanted.intervalMaximum.bytes
        + wanted.latency.bytes + wanted.supervisionTimeout.bytes + [0, 0, 0, 0]
    case .setDataLength(let handle, let bytes, let microseconds):
      handle.bytes + bytes.bytes + microseconds.bytes
    case .readPHY(let handle): handle.bytes
    case .setPHY(let handle, let phy):
      // ALL_PHYS is 0: the command sets both directions.
      handle.bytes + [0, phy.mask, phy.mask] + phy.coding.bytes
    }
  }
}

extension PHY {
  /// The PHY preference in LE Set PHY.
  fileprivate var mask: UInt8 {
    switch self {
    case .le1M: 1 << 0
    case .le2M: 1 << 1
    case .coded, .codedS2, .codedS8: 1 << 2
    }
  }

  /// PHY_Options of LE Set PHY: the preferred coding.
  fileprivate var coding: UInt16 {
    switch self {
    case .le1M, .le2M, .coded: 0
    case .codedS2: 1
    case .codedS8: 2
    }
  }

  /// Decodes the PHY number of an event; returns `nil` for an unknown number.
  init?(hci number: UInt8) {
    switch number {
    case 1: self = .le1M
    case 2: self = .le2M
    case 3: self = .coded
    default: return nil
    }
  }
}
