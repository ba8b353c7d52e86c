import OtaflashATT
import Synchronization

/// A command's exclusive hold on a peripheral.
public struct PeripheralTurn: Sendable {
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
  public var whereabouts: Whereabouts { core.whereabouts }

  /// Ends the connection and looks for the device elsewhere from now on, such as at its boot
  /// loader's own address.
  public func move(to whereabouts: Whereabouts) { core.move(to: whereabouts) }
}

/// What a command works on, where that has a connection which may have fallen silent.
protocol ConnectedContext {
  /// A time limit ended the command.
  func noteTimeout()
  /// Ends a connection that nothing can be expected of any more, so that the next attempt makes a
  /// new one instead of waiting behind a request that is never answered.
  func leaveSilentConnection()
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

extension Command where Context == PeripheralTurn, Failure == PeripheralFault {
  /// A piece of work on a peripheral's connection, which is made first where there is none.
  public init(
    onConnection name: String,
    _ body: @escaping @Sendable (GATTClient) async throws(GATTFault) -> Output
  ) {
    self.init(name) { (turn) async throws(PeripheralFault) -> Output in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch { throw .connect(error) }
      do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
    }
  }
}

extension Command where Context == PeripheralTurn, Failure == any Error {
  /// As above, for work with errors of its own, which are thrown as they are; those of the
  /// connection are thrown as `PeripheralFault`.
  public init(
    onConnection name: String, _ body: @escaping @Sendable (GATTClient) async throws -> Output
  ) {
    self.init(name) { (turn) async throws(any Error) -> Output in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch {
        throw PeripheralFault.connect(error)
      }
      do { return try await body(client) } catch let fault as GATTFault {
        throw PeripheralFault.gatt(fault)
      }
    }
  }
}
