import Door
import Elsewhere
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// The unchanged app on a custom link, scanner and clock.
@Suite struct MemoryCentralTests {
  /// A door in this process that serves every host that connects, while `body` runs.
  private func withDoor<Value: Sendable>(
    on clock: any LinkClock,
    _ body:
      @escaping @Sendable (MemoryCentral, @escaping @Sendable () -> Void) async throws -> Value
  ) async throws -> Value {
    let (links, connected) = AsyncStream.makeStream(of: OwnLink.self)
    let latest = Mutex<OwnLink?>(nil)
    let advertisement = Advertisement(
      id: "memory:7", name: "Door 7", rssi: -40, services: [.door])
    let central = MemoryCentral(
      [
        MemoryCentral.Device(advertisement) { link in
          latest.withLock { $0 = link }
          connected.yield(link)
        }
      ], on: clock)
    let state = LocalCharacteristic(
      .doorState, properties: [.read, .notify], value: .computed { _ in .success([1]) })
    let table = AttributeTable(services: [LocalService(.door, characteristics: [state])])
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await link in links { _ = await GATTServer(table: table).serve(link, clock: clock) }
      }
      defer { group.cancelAll() }
      return try await body(central) { latest.withLock { $0?.leaveRange() } }
    }
  }

  @Test func theAppFindsAndReadsADoor() async throws {
    let clock = SystemClock()
    let state = try await withDoor(on: clock) { central, _ in
      try await readNearestDoor(from: central, on: clock)
    }
    #expect(state == .open)
  }

  @Test func aScanEndsInTime() async throws {
    let clock = SystemClock()
    let central = MemoryCentral([], on: clock)
    await #expect(throws: ScanFault.notFound(within: .milliseconds(20))) {
      try await central.first(within: .milliseconds(20), on: clock)
    }
  }

  @Test func aLostLinkIsRestored() throws {
    // The test runs in virtual time, because the clock is also a parameter.
    let result = try VirtualTimeline().run { clock -> Result<[DoorState], any Error> in
      do {
        return .success(
          try await withDoor(on: clock) { central, leaveRange in
            let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
            let model = DoorModel(dialer, clock: clock)
            let before = try await model.state()
            leaveRange()
            await clock.pause(for: .seconds(1))
            return [before, try await model.state()]
          })
      } catch {
        return .failure(error)
      }
    }
    #expect(try result.get() == [.open, .open])
  }
}
