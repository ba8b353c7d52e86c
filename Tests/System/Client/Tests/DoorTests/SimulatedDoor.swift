import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// The firmware of the service: a door that opens and closes every second.
final class DoorFirmware: Sendable {
  private struct State {
    var busyReads: Int
    let saysNonsense: Bool
    var isOpen = false
    var isUnlockedFor = false
    var locks: [UInt8] = []
    var notifications = 0
  }

  private static let code: UInt8 = 42
  private let state: Mutex<State>

  /// - Parameter busyReads: the number of reads that are refused before the first response.
  init(busyReads: Int = 0, saysNonsense: Bool = false) {
    state = Mutex(State(busyReads: busyReads, saysNonsense: saysNonsense))
  }

  /// The values written to the lock, in order.
  var locks: [UInt8] { state.withLock { $0.locks } }

  /// The number of notifications that the door has sent.
  var notifications: Int { state.withLock { $0.notifications } }

  private func read() -> Result<[UInt8], ATTErrorCode> {
    state.withLock { state in
      guard state.busyReads == 0 else {
        state.busyReads -= 1
        return .failure(.insufficientResources)
      }
      return .success([state.saysNonsense ? 7 : state.isOpen ? 1 : 0])
    }
  }

  private func move() -> [UInt8] {
    state.withLock { state in
      state.isOpen.toggle()
      return [state.isOpen ? 1 : 0]
    }
  }

  /// The attributes of the door, for any link.
  var table: AttributeTable {
    AttributeTable(services: [
      LocalService(
        .door,
        characteristics: [
          LocalCharacteristic(
            .doorState, properties: [.read, .notify],
            value: .computed { _ in self.read() }),
          LocalCharacteristic(
            .doorLock, properties: .write,
            value: .dynamic(
              read: { _ in .failure(.readNotPermitted) },
              write: { bytes, _ in self.lock(bytes) })),
          LocalCharacteristic(
            .doorCode, properties: .write,
            value: .dynamic(
              read: { _ in .failure(.readNotPermitted) },
              write: { bytes, _ in self.enter(bytes) })),
        ])
    ])
  }

  func peripheral(
    _ name: String = "Door 7", rssi: Int = -60, on clock: any LinkClock,
    leavingRangeAfter moves: Int? = nil
  ) throws -> SimulatedPeripheral {
    let table = table
    let handle = table.handle(of: .doorState)
    let advertisement = Advertisement(
      id: "sim:\(name)", name: name, rssi: rssi, services: [.door])
    return try SimulatedPeripheral(
      advertising: advertisement, server: GATTServer(table: table), clock: clock
    ) { door in
      var count = 0
      while await clock.pause(for: .seconds(1)) {
        guard door.server.notify(handle, self.move()) == .queued else { continue }
        self.state.withLock { $0.notifications += 1 }
        count += 1
        if count == moves { door.leaveRange(for: .seconds(5)) }
      }
    }
  }

  private func enter(_ bytes: [UInt8]) -> ATTErrorCode? {
    guard bytes == [Self.code] else { return .insufficientAuthorization }
    state.withLock { $0.isUnlockedFor = true }
    return nil
  }

  private func lock(_ bytes: [UInt8]) -> ATTErrorCode? {
    state.withLock { state in
      guard state.isUnlockedFor, bytes.count == 1 else { return .insufficientAuthorization }
      state.isUnlockedFor = false
      state.locks += bytes
      return nil
    }
  }
}
