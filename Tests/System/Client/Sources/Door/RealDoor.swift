import OtaflashBlueZ
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The app's storage for its keys; a real app uses the system's key store.
public final class KeysInMemory: BondStore {
  private let bonds = Mutex<[BluetoothAddress: Bond]>([:])

  public init() {}

  public func bonds(of adapter: BluetoothAddress) -> [Bond] { bonds.withLock { Array($0.values) } }

  public func keep(_ bond: Bond, of adapter: BluetoothAddress) {
    bonds.withLock { $0[bond.device] = bond }
  }

  public func forget(_ device: BluetoothAddress, of adapter: BluetoothAddress) -> Bool {
    bonds.withLock { $0.removeValue(forKey: device) != nil }
  }
}

/// The same app on a real adapter: pairs if the door requires it, and returns its state.
public func stateOfTheNearestDoor() async throws -> DoorState {
  let agent = PairingAgent(
    adapter: 0, makesBonds: true, user: .unattended, store: KeysInMemory())
  let adapter = LocalAdapter(0, address: try await LocalAdapter.address(of: 0), pairing: agent)
  let clock = EventLoopClock()
  let dialer = Dialer(to: doors, from: adapter, within: .seconds(10), on: clock)
  return try await withTaskExecutorPreference(EventLoop.shared) {
    try await agent.serve { () async throws(any Error) -> DoorState in
      try await DoorModel(dialer, clock: clock).state()
    }
  }
}

/// The door itself on a real adapter: advertises, and serves one host after the other until it is
/// cancelled.
public func serveDoor(_ server: GATTServer, named name: String) async throws {
  guard let advertisement = PeripheralAdvertising(name: name, service: .door) else {
    throw DoorError.nameTooLong(name)
  }
  let clock = EventLoopClock()
  try await withTaskExecutorPreference(EventLoop.shared) {
    let advertiser = try await Advertiser(adapter: 0)
    defer { advertiser.stop() }
    let listener = try L2CAPListener(adapter: advertiser.address)
    defer { listener.close() }
    try await advertiser.start(advertisement)
    while true {
      let end = await server.serve(try await listener.accept(), clock: clock)
      if case .cancelled = end { return }
    }
  }
}
