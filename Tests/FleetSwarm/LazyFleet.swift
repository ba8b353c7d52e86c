import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// Boards that get their power when somebody first connects and lose it when they are done with, so
/// that ten thousand of them need no more memory than those that are worked on.
final class LazyFleet: DeviceReach {
  /// What a board said of itself when it was switched off.
  struct Truth: Sendable {
    let version: FirmwareVersion?
    let octets: Int
  }

  private struct Powered {
    let board: SimulatedBoard
    let off: OneShot<Void>
  }

  private struct State {
    var powered: [FleetDevice.ID: Powered] = [:]
    var truth: [FleetDevice.ID: Truth] = [:]
    var most = 0
  }

  private let profiles: @Sendable (FleetDevice.ID) -> SimulationProfile
  private let names: [String]
  private let clock: any LinkClock
  private let state = Mutex(State())
  private let switchedOn = Mailbox<@Sendable () async -> Void>(capacity: 4096)

  init(
    adapters: Int, clock: any LinkClock,
    profiles: @escaping @Sendable (FleetDevice.ID) -> SimulationProfile
  ) {
    names = (0..<adapters).map { "hci\($0)" }
    self.clock = clock
    self.profiles = profiles
  }

  /// Powers the boards until it is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while let life = await switchedOn.next() { group.addTask { await life() } }
      group.cancelAll()
    }
  }

  var truth: [FleetDevice.ID: Truth] { state.withLock { $0.truth } }
  /// The most boards that had power at a time.
  var poweredMost: Int { state.withLock { $0.most } }

  /// The device is done with.
  func release(_ device: FleetDevice.ID) {
    let powered = state.withLock { state -> Powered? in
      guard let powered = state.powered.removeValue(forKey: device) else { return nil }
      state.truth[device] = Truth(
        version: powered.board.running.version, octets: powered.board.counters.dataOctets)
      return powered
    }
    powered?.off.fulfil(())
  }

  func adapters() -> [String] { names }

  /// Four of the adapters hear a device.
  func hearing(of device: FleetDevice.ID) -> [AdapterHearing] {
    let first = Int(device.utf8.reduce(UInt32(7)) { $0 &* 31 &+ UInt32($1) } % 997)
    return (0..<min(4, names.count)).map { offset in
      AdapterHearing(adapter: names[(first + offset) % names.count], rssi: -50 - 3 * offset)
    }
  }

  func connect(
    to device: FleetDevice.ID, at place: Whereabouts, on adapter: String
  ) async throws(ConnectFault) -> any Link { try await board(device).dial(at: place) }

  private func board(_ device: FleetDevice.ID) -> SimulatedBoard {
    let (board, fresh) = state.withLock { state -> (SimulatedBoard, Powered?) in
      if let powered = state.powered[device] { return (powered.board, nil) }
      let powered = Powered(board: makeBoard(device), off: OneShot())
      state.powered[device] = powered
      state.most = max(state.most, state.powered.count)
      return (powered.board, powered)
    }
    if let fresh {
      let taken = switchedOn.offer {
        _ = await runCancellably(until: fresh.off) { () async -> Void in
          _ = await fresh.board.run()
        }
      }
      precondition(taken, "fewer boards are switched on at a time")
    }
    return board
  }

  private func makeBoard(_ device: FleetDevice.ID) -> SimulatedBoard {
    do throws(FlashFault) {
      return try SimulatedBoard(profile: profiles(device), clock: clock)
    } catch {
      preconditionFailure("memory does not fail: \(error)")
    }
  }

  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value { await body() }
}
