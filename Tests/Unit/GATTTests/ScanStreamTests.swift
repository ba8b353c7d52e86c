import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// A custom central with a scan that uses a callback, and a device on a link in memory.
private struct CallbackCentral: Central {
  static let device = Advertisement(id: "door", name: "Door", rssi: -50, services: [])

  let server: GATTServer
  let timeline: VirtualClock
  var clock: any LinkClock { timeline }
  let runs: Mailbox<ScanStream<Advertisement>.Continuation>
  let ended: Counter

  func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> ScanStream<Advertisement> {
    ScanStream { continuation in
      continuation.onTermination { _ = ended.take() }
      continuation.yield(Self.device)
      runs.offer(continuation)
    }
  }

  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    let (host, end) = MemoryLink.pair()
    Task(executorPreference: timeline.executor) { await server.serve(end, clock: timeline) }
    return host
  }
}

@Suite struct ScanStreamTests {
  private static let battery = BluetoothUUID(0x180F)
  private static let level = BluetoothUUID(0x2A19)

  private static func central(_ clock: VirtualClock) -> CallbackCentral {
    let table = AttributeTable(services: [
      LocalService(
        battery,
        characteristics: [LocalCharacteristic(level, properties: .read, value: .fixed([87]))])
    ])
    return CallbackCentral(
      server: GATTServer(table: table), timeline: clock, runs: Mailbox(capacity: 4),
      ended: Counter())
  }

  @Test func aCallbackBecomesAScanAndItsDeviceIsConnectedTo() throws {
    let value = try VirtualTimeline().run { clock -> [UInt8] in
      let central = Self.central(clock)
      do {
        let device = try await central.first(within: .seconds(1), on: clock)
        let dialer = Dialer(to: device, from: central, within: .seconds(1))
        return try await withPeripheral(dialer, clock: clock) { peripheral in
          try await peripheral.read(Self.level, in: Self.battery)
        }
      } catch {
        return []
      }
    }
    #expect(value == [87])
  }

  @Test func aRunEndsWithItsReaderAndFaultsReachIt() throws {
    let (ended, fault) = try VirtualTimeline().run { clock -> ([Int], ScanFault?) in
      let central = Self.central(clock)
      var ended: [Int] = []
      do throws(ScanFault) {
        for try await _ in central.advertisements(matching: AdvertisementFilter()) { break }
        ended.append(central.ended.value)
        _ = await central.runs.next()
        var count = 0
        for try await _ in central.advertisements(matching: AdvertisementFilter()) {
          count += 1
          guard count == 1, let run = await central.runs.next() else { continue }
          run.yield(CallbackCentral.device)
          run.finish(throwing: .failed(reason: "The radio is off."))
        }
      } catch {
        ended.append(central.ended.value)
        return (ended, error)
      }
      return (ended, nil)
    }
    #expect(ended == [1, 2])
    #expect(fault == .failed(reason: "The radio is off."))
  }

  /// An actor that returns the stream of its central as an opaque type.
  private actor Manager {
    let central: CallbackCentral
    init(_ central: CallbackCentral) { self.central = central }
    func devices() -> some AsyncSequence<Advertisement, ScanFault> & Sendable {
      central.advertisements(matching: AdvertisementFilter())
    }
  }

  @Test func anActorReturnsItsStreamAndADeadlineAcceptsAnyClosure() throws {
    struct Late: Error {}
    let seen = try VirtualTimeline().run { clock -> String in
      let manager = Manager(Self.central(clock))
      do {
        return try await withDeadline(
          clock.now.advanced(by: .seconds(1)), on: clock, orThrow: Late()
        ) {
          for try await device in await manager.devices() where device.name == nil {
            throw ScanFault.cancelled
          }
          return "ended"
        }
      } catch is Late {
        return "late"
      } catch {
        return "\(error)"
      }
    }
    #expect(seen == "late")
  }
}
