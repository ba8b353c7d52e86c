import OtaflashATT
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation

/// The adapters and boards of a simulated fleet, as a transport for the engine. A board is powered
/// only during attempts.
package struct SimulatedFleetTransport: DeviceTransport {
  package let fleet: SimulatedFleet
  private let board: @Sendable (FleetDevice.ID) -> String

  /// - Parameters:
  ///   - fleet: the simulated fleet; its `run()` must be in progress.
  ///   - board: returns the board of a device; by default the board with its id.
  package init(
    _ fleet: SimulatedFleet, board: @escaping @Sendable (FleetDevice.ID) -> String = { $0 }
  ) {
    self.fleet = fleet
    self.board = board
  }

  package func adapters() -> [String] { fleet.adapters }

  package func hearing(of device: FleetDevice.ID) -> [AdapterHearing] {
    fleet.hearing(of: board(device)).map { AdapterHearing(adapter: $0.adapter, rssi: $0.rssi) }
  }

  package func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    try await fleet.connect(to: board(device), at: place, on: adapter)
  }

  package func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value {
    defer { fleet.release(board(device)) }
    return await body()
  }
}
