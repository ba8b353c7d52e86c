import OtaflashATT

/// A command of the kernel's management interface (BlueZ doc/mgmt-api.txt; kernel mgmt.h).
package enum MgmtCommand: Equatable, Sendable {
  case readIndexList
  case readControllerInformation
  case setPowered(Bool)
  case startDiscovery
  case stopDiscovery
  /// Starts a filtered discovery. `rssiMinimum` is in dBm; `nil` accepts every strength.
  case startServiceDiscovery(rssiMinimum: Int8?, services: [BluetoothUUID])
  case loadConnectionParameters([MgmtConnectionParameters])
  case readDefaultSystemConfiguration
  /// Sets the default configuration of the adapter, for all processes.
  case setDefaultSystemConfiguration([SystemParameter])
  case addAdvertising(PeripheralAdvertising)
  /// Ends the advertisement that `addAdvertising` started.
  case removeAdvertising
  /// Ends the link to a device immediately. Without this command, the link would stay up for 2 s
  /// after its sockets are closed, or for 4 s on the peripheral.
  case disconnect(BluetoothAddress)
  /// Sets whether new pairings store keys.
  case setBondable(Bool)
  case setSecureConnections(Bool)
  /// Sets the I/O capability for later connections.
  case setIOCapability(IOCapability)
  /// The reply to a confirmation request.
  case confirm(BluetoothAddress, Bool)
  /// The reply to a passkey request, 0…999,999; `nil` refuses the request.
  case enterPasskey(BluetoothAddress, UInt32?)
  /// Replaces all Long Term Keys of the adapter. The next case replaces all Identity Resolving
  /// Keys.
  case loadLongTermKeys([LongTermKey])
  case loadIdentityResolvingKeys([IdentityResolvingKey])
  /// Removes a device's keys, and ends the link to the device.
  case unpair(BluetoothAddress)

  /// The adapter index of commands that apply to no adapter.
  package static let noIndex: UInt16 = 0xFFFF
  /// The address types LE public and LE random, for the discovery commands.
  static let lowEnergyAddresses: UInt8 = 0x06
  /// The kernel's value for "no RSSI limit".
  private static let anyRSSI: UInt8 = 0x7F

  package var opcode: UInt16 {
    switch self {
    case .readIndexList: 0x0003
    case .readControllerInformation: 0x0004
    case .setPowered: 0x0005
    case .setBondable: 0x0009
    case .loadLongTermKeys: 0x0013
    case .disconnect: 0x0014
    case .setIOCapability: 0x0018
    case .unpair: 0x001B
    case .confirm(_, true): 0x001C
    case .confirm(_, false): 0x001D
    case .enterPasskey(_, .some): 0x001E
    case .enterPasskey(_, nil): 0x001F
    case .startDiscovery: 0x0023
    case .stopDiscovery: 0x0024
    case .setSecureConnections: 0x002D
    case .loadIdentityResolvingKeys: 0x0030
    case .loadConnectionParameters: 0x0035
    case .startServiceDiscovery: 0x003A
    case .addAdvertising: 0x003E
    case .removeAdvertising: 0x003F
    case .readDefaultSystemConfiguration: 0x004B
    case .setDefaultSystemConfiguration: 0x004C
    }
  }

  /// The complete packet: opcode, adapter index, length and parameters, little-endian.
  package func encoded(index: UInt16) -> [UInt8] {
    let parameters = parameters
    return opcode.bytes + index.bytes + UInt16(parameters.count).bytes + parameters
  }

  private var parameters: [UInt8] {
    switch self {
    case .readIndexList, .readControllerInformation, .readDefaultSystemConfiguration: []
    case .setPowered(let isOn), .setBondable(let isOn), .setSecureConnections(let isOn):
      [isOn ? 1 : 0]
    case .startDiscovery, .stopDiscovery: [Self.lowEnergyAddresses]
    case .startServiceDiscovery(let rssi, let services):
      [Self.lowEnergyAddresses, rssi.map { UInt8(bitPattern: $0) } ?? Self.anyRSSI]
        + UInt16(services.count).bytes + services.flatMap(\.littleEndian128)
    case .loadConnectionParameters(let entries):
      UInt16(entries.count).bytes + entries.flatMap(\.bytes)
    case .setDefaultSystemConfiguration(let parameters): parameters.flatMap(\.bytes)
    case .addAdvertising(let advertisement): advertisement.parameters
    case .removeAdvertising: [PeripheralAdvertising.instance]
    case .disconnect(let device), .confirm(let device, _), .enterPasskey(let device, nil):
      device.mgmtBytes
    case .enterPasskey(let device, let passkey?):
      device.mgmtBytes + UInt16(truncatingIfNeeded: passkey).bytes + UInt16(passkey >> 16).bytes
    case .setIOCapability(let capability): [capability.rawValue]
    case .unpair(let device): device.mgmtBytes + [1]
    case .loadLongTermKeys(let keys): UInt16(keys.count).bytes + keys.flatMap(\.bytes)
    case .loadIdentityResolvingKeys(let keys): UInt16(keys.count).bytes + keys.flatMap(\.bytes)
    }
  }
}

/// The connection parameters that the kernel uses for its next connection to a device. When
/// parameters are loaded, kernel 6.1 drops the entries of other devices, and kernel 6.12 also
/// updates an existing link.
package struct MgmtConnectionParameters: Equatable, Sendable {
  package let device: BluetoothAddress
  /// The limits of the interval in units of 1.25 ms, 6 ... 3200.
  package let intervalMinimum: UInt16
  package let intervalMaximum: UInt16
  /// The number of connection events that the device may skip, 0 ... 499.
  package let latency: UInt16
  /// The supervision timeout in units of 10 ms, 10 ... 3200.
  package let supervisionTimeout: UInt16

  /// Creates the parameters; returns `nil` for values that the kernel would reject
  /// (`hci_check_conn_params`).
  package init?(
    device: BluetoothAddress, intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16,
    supervisionTimeout: UInt16
  ) {
    guard 6...3200 ~= intervalMinimum,
      intervalMinimum...3200 ~= max(intervalMaximum, intervalMinimum),
      intervalMinimum <= intervalMaximum, 10...3200 ~= supervisionTimeout,
      UInt32(intervalMaximum) < UInt32(supervisionTimeout) * 8,
      latency <= min(499, UInt16(UInt32(supervisionTimeout) * 4 / UInt32(intervalMaximum)) &- 1)
    else { return nil }
    self.device = device
    self.intervalMinimum = intervalMinimum
    self.intervalMaximum = intervalMaximum
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  fileprivate var bytes: [UInt8] {
    device.mgmtBytes + intervalMinimum.bytes + intervalMaximum.bytes + latency.bytes
      + supervisionTimeout.bytes
  }
}

extension UInt16 {
  /// The two bytes of the number, little-endian.
  var bytes: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}
