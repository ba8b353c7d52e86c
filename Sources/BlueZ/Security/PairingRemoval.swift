import OtaflashATT

/// The removal of a pairing in the kernel.
public struct PairingRemoval: Equatable, Sendable {
  /// The address of the adapter.
  public let adapter: BluetoothAddress
  /// Whether the kernel had keys for the device.
  public let wasPaired: Bool

  /// Removes a device's keys from the kernel, and ends the link to the device. Needs CAP_NET_ADMIN.
  public static func perform(
    _ device: BluetoothAddress, adapter: UInt16
  ) async throws(MgmtFault) -> PairingRemoval {
    try await perform(device, adapter: adapter, over: MgmtSession())
  }

  static func perform(
    _ device: BluetoothAddress, adapter: UInt16, over session: MgmtSession
  ) async throws(MgmtFault) -> PairingRemoval {
    defer { session.close() }
    let answer = try await session.perform(.readControllerInformation, index: adapter)
    let address = try MgmtIndexList.information(answer).address
    let command = MgmtCommand.unpair(device)
    do throws(MgmtFault) {
      try await session.perform(command, index: adapter)
      return PairingRemoval(adapter: address, wasPaired: true)
    } catch .refused(command.opcode, .notPaired) {
      return PairingRemoval(adapter: address, wasPaired: false)
    }
  }
}
