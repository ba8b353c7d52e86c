import OtaflashATT
import Synchronization

/// A command's exclusive hold on a peripheral.
public struct PeripheralTurn: Sendable {
  /// The longest time for a command's conclusion (`Command.followed`) by default, a new connection
  /// included.
  public static let conclusionLimitDefault = Duration.seconds(10)

  let core: PeripheralCore
  private let trust = Trust()

  init(_ core: PeripheralCore) { self.core = core }

  /// The clock of the peripheral's waits.
  public var clock: any LinkClock { core.clock }

  /// The connection, made first where there is none or it was lost.
  ///
  /// - Parameters:
  ///   - receiveMTU: what a new connection tells a peer that asks for our MTU before
  ///     `GATTClient.requestMTU` does; the two must be the same.
  ///   - followsServiceChanges: whether a new connection subscribes to Service Changed by itself.
  ///     `false` where a device is looked at that may be another one: nothing is written to it.
  public func connect(
    receiveMTU: ATTMTU = .maximum, followsServiceChanges: Bool = true
  ) async throws(ConnectFault) -> GATTClient {
    try await core.connect(receiveMTU, followsServiceChanges: followsServiceChanges)
  }

  /// The connection, if there is one now.
  public var connectedClient: GATTClient? { core.connectedClient }

  /// Waits until the peer or the radio ends the connection; `false` when it still stands at the
  /// limit. At once when there is none.
  @discardableResult
  public func waitUntilLost(within limit: Duration) async -> Bool {
    guard let client = connectedClient else { return true }
    return await client.waitUntilEnded(within: limit, on: clock)
  }

  /// Ends the connection; the next `connect` makes a new one.
  public func disconnect() { core.disconnect() }

  /// Where the next `connect` looks for the device.
  public var whereabouts: DeviceLocation { core.whereabouts }

  /// Ends the connection and looks for the device elsewhere from now on, such as at its boot
  /// loader's own address.
  public func move(to whereabouts: DeviceLocation) { core.move(to: whereabouts) }
}

extension PeripheralTurn: ConnectedContext {
  private final class Trust: Sendable {
    let isLost = Mutex(false)
  }

  func noteTimeout() { trust.isLost.withLock { $0 = true } }

  func leaveSilentConnection() {
    let isSilent = trust.isLost.withLock { isLost in
      defer { isLost = false }
      return isLost
    }
    if isSilent || connectedClient?.bearer.isHeldUp == true { disconnect() }
  }
}
