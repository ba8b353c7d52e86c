import OtaflashATT
import Synchronization

/// The exclusive access of a running command to a peripheral.
public struct PeripheralTurn: Sendable {
  /// The default time limit of a command's conclusion (`Command.followed`), including the time for
  /// a new connection.
  public static let conclusionLimitDefault = Duration.seconds(10)

  let core: PeripheralCore
  private let trust = Trust()

  init(_ core: PeripheralCore) { self.core = core }

  /// The clock for the peripheral's waits.
  public var clock: any LinkClock { core.clock }

  /// Returns the connection; connects first if there is no connection.
  ///
  /// - Parameters:
  ///   - receiveMTU: the MTU that a new connection reports to a peer that sends an Exchange MTU
  ///     Request before `GATTClient.requestMTU`; pass the same value to `requestMTU`.
  ///   - followsServiceChanges: whether a new connection subscribes to Service Changed
  ///     automatically. Pass `false` if the device may be another device, so that nothing is
  ///     written to it.
  public func connect(
    receiveMTU: ATTMTU = .maximum, followsServiceChanges: Bool = true
  ) async throws(ConnectFault) -> GATTClient {
    try await core.connect(receiveMTU, followsServiceChanges: followsServiceChanges)
  }

  /// The current connection; `nil` if there is no connection.
  public var connectedClient: GATTClient? { core.connectedClient }

  /// Waits until the peer or the radio ends the connection; returns `false` if the connection still
  /// exists after the limit. Returns `true` immediately if there is no connection.
  @discardableResult
  public func waitUntilLost(within limit: Duration) async -> Bool {
    guard let client = connectedClient else { return true }
    return await client.waitUntilEnded(within: limit, on: clock)
  }

  /// Ends the connection; the next `connect` creates a new connection.
  public func disconnect() { core.disconnect() }

  /// The location at which the next `connect` searches for the device.
  public var whereabouts: DeviceLocation { core.whereabouts }

  /// Ends the connection. Later connections search for the device at another location, such as the
  /// address of its bootloader.
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
