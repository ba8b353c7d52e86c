import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// A central with two straps of the same kind in range. The first strap also has a bootloader at
/// the next address.
private final class TwoStraps: Central {
  let clock: any LinkClock
  private let knowsAddresses: Bool
  private let connected = Mutex<[String]>([])
  private let isFirstAway = Mutex(false)

  init(clock: VirtualClock, knowsAddresses: Bool = true) {
    self.clock = clock
    self.knowsAddresses = knowsAddresses
  }

  var connections: [String] { connected.withLock { $0 } }

  func takeFirstAway() { isFirstAway.withLock { $0 = true } }

  struct Advertisements: AsyncSequence, AsyncIteratorProtocol {
    var devices: [Advertisement]
    let clock: any LinkClock

    func makeAsyncIterator() -> Advertisements { self }

    mutating func next() async throws(ScanFault) -> Advertisement? {
      try await next(isolation: nil)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Advertisement? {
      guard await clock.pause(for: .seconds(devices.isEmpty ? 3_600 : 1)) else { throw .cancelled }
      return devices.isEmpty ? nil : devices.removeFirst()
    }
  }

  func advertisements(matching filter: AdvertisementFilter, eachOnce: Bool) -> Advertisements {
    let names = [("strap:1", "Strap"), ("strap:2", "Strap"), ("strap:1+1", "DfuTarg")]
    let devices = names.map { Advertisement(id: $0.0, name: $0.1, rssi: -60, services: []) }
    let isAway = isFirstAway.withLock { $0 }
    return Advertisements(
      devices: devices.dropFirst(isAway ? 1 : 0).filter(filter.accepts), clock: clock)
  }

  func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    connected.withLock { $0.append(device.id) }
    return MemoryLink.pair(capacity: 1).0
  }

  func id(of device: Advertisement, at place: DeviceLocation) -> Advertisement.ID? {
    switch place {
    case .home, .homeOrNewAddress: device.id
    case .nextAddress, .previousAddress, .flippedAddress:
      knowsAddresses ? "\(device.id)+\(place.lastByte(from: 0) ?? 0)" : nil
    case .advertising: nil
    }
  }
}

@Suite struct DialerTests {
  private static func connect(
    _ turn: PeripheralTurn, at place: DeviceLocation = .home
  ) async -> ConnectFault? {
    turn.move(to: place)
    do throws(ConnectFault) {
      _ = try await turn.connect()
      return nil
    } catch {
      return error
    }
  }

  private static func connections(
    knowsAddresses: Bool = true, pins: Bool = true,
    _ body: @escaping @Sendable (PeripheralTurn, TwoStraps) async -> [ConnectFault?]
  ) throws -> (connections: [String], faults: [ConnectFault?]) {
    try VirtualTimeline().run { clock in
      let straps = TwoStraps(clock: clock, knowsAddresses: knowsAddresses)
      let dialer = Dialer(
        to: AdvertisementFilter(name: /Strap/), from: straps, within: .seconds(10), on: clock,
        pins: pins)
      return await withPeripheral(dialer, clock: clock) { peripheral in
        let command = Command<PeripheralTurn, [ConnectFault?], Never>("connect") { turn in
          await body(turn, straps)
        }
        do throws(QueueFault<Never>) {
          return (straps.connections, try await peripheral.perform(command))
        } catch {
          return (straps.connections, [])
        }
      }
    }
  }

  @Test func afterALossNoOtherDeviceOfTheKindIsConnected() throws {
    let seen = Mutex<[String]>([])
    let faults = try Self.connections { turn, straps in
      let first = await Self.connect(turn)
      straps.takeFirstAway()
      let second = await Self.connect(turn)
      seen.withLock { $0 = straps.connections }
      return [first, second]
    }.faults
    #expect(seen.withLock { $0 } == ["strap:1"])
    guard faults.count == 2, faults[0] == nil, case .deviceNotFound? = faults[1] else {
      Issue.record("\(faults)")
      return
    }
  }

  @Test func aNewAddressIsAcceptedOnRequest() throws {
    let seen = Mutex<[String]>([])
    let faults = try Self.connections { turn, straps in
      let first = await Self.connect(turn)
      straps.takeFirstAway()
      let moved = await Self.connect(turn, at: .homeOrNewAddress)
      // After the connection, the dialer is pinned to this device.
      let again = await Self.connect(turn)
      seen.withLock { $0 = straps.connections }
      return [first, moved, again]
    }.faults
    #expect(faults == [nil, nil, nil])
    #expect(seen.withLock { $0 } == ["strap:1", "strap:2", "strap:2"])
  }

  @Test func withoutAPinTheFirstMatchIsConnectedEachTime() throws {
    let seen = Mutex<[String]>([])
    _ = try Self.connections(pins: false) { turn, straps in
      _ = await Self.connect(turn)
      straps.takeFirstAway()
      _ = await Self.connect(turn)
      seen.withLock { $0 = straps.connections }
      return []
    }
    #expect(seen.withLock { $0 } == ["strap:1", "strap:2"])
  }

  @Test func aBootloaderIsFollowedToItsAddressAndTheApplicationBack() throws {
    let seen = Mutex<[String]>([])
    let faults = try Self.connections { turn, straps in
      let faults = [
        await Self.connect(turn), await Self.connect(turn, at: .nextAddress),
        await Self.connect(turn, at: .home),
      ]
      seen.withLock { $0 = straps.connections }
      return faults
    }.faults
    #expect(seen.withLock { $0 } == ["strap:1", "strap:1+1", "strap:1"])
    #expect(faults == [nil, nil, nil])
  }

  @Test func aCentralThatCannotFollowReportsIt() throws {
    for knowsDevice in [true, false] {
      let faults = try Self.connections(knowsAddresses: false) { turn, _ in
        if knowsDevice { _ = await Self.connect(turn) }
        return [await Self.connect(turn, at: .nextAddress)]
      }.faults
      switch faults.first {
      case .adapterUnavailable(let cause, _)?? where knowsDevice:
        #expect(cause.contains("bootloader"))
      // The fault that no device was found takes precedence.
      case .deviceNotFound?? where !knowsDevice: continue
      default: Issue.record("\(faults)")
      }
    }
  }

  @Test func everyFaultHasASentence() {
    let device = ConnectFault.deviceNotFound(cause: "It is away.", remedy: .advice("Wait."))
    let faults: [any Error] = [
      device, PeripheralFault.connect(device), ScanFault.notFound(within: .seconds(2)),
      GATTFault.refused(AttributeReference(AttributeHandle(3)), .writeNotPermitted),
      GATTFault.unsubscribed,
      SecurityFault.bondForgotten, QueueFault<PeripheralFault>.full(limit: 3),
      QueueFault<PeripheralFault>.failed(.connect(device)), ConnectionFailure.connect(device),
      MultipleFaults<ConnectFault, GATTFault>.main(device),
      QueueFault<Never>.preparationFailed(device),
    ]
    for fault in faults {
      let text = "\(fault)"
      #expect(text.hasSuffix(".") && text.contains(" ") && !text.contains("Fault"), "\(text)")
      #expect(text.first?.isUppercase == true)
    }
  }

  // MARK: Remembering

  /// The store of an application.
  private final class Store: KnownDevices {
    enum Fault: Error, Equatable { case full }

    private let kept = Mutex<[KnownDevice]>([])
    private let isFull: Bool

    init(isFull: Bool = false) { self.isFull = isFull }

    func remember(_ id: Advertisement.ID, name: String?) async throws(Fault) {
      guard !isFull else { throw .full }
      kept.withLock { kept in
        let known = kept.first { $0.id == id }
        kept.removeAll { $0.id == id }
        kept.insert(KnownDevice(id: id, name: name ?? known?.name), at: 0)
      }
    }

    func devices() async throws(Fault) -> [KnownDevice] { kept.withLock { $0 } }

    func forget(_ id: Advertisement.ID) async throws(Fault) {
      kept.withLock { $0.removeAll { $0.id == id } }
    }
  }

  private static func connect(_ dialer: Dialer, on clock: any LinkClock) async {
    do throws(PeripheralFault) {
      try await withPeripheral(dialer, clock: clock) {
        (peripheral) async throws(PeripheralFault) in
        try await peripheral.perform("connect") { (_) async throws(GATTFault) in }
      }
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test(arguments: [true, false])
  func aConnectionIsRemembered(pins: Bool) throws {
    let store = Store()
    let devices = try VirtualTimeline().run { clock in
      let straps = TwoStraps(clock: clock)
      let scanning = Dialer(
        to: AdvertisementFilter(), from: straps, within: .seconds(20), on: clock, pins: pins)
      await Self.connect(scanning.remembering(in: store).observing { _ in }, on: clock)
      straps.takeFirstAway()
      await Self.connect(scanning.remembering(in: store), on: clock)
      let door = Dialer { () async throws(ConnectFault) -> any Link in
        MemoryLink.pair(capacity: 1).0
      }
      await Self.connect(door.remembering("door", in: store), on: clock)
      await Self.connect(door.remembering("strap:1", in: store), on: clock)
      return try? await store.devices()
    }
    #expect(
      devices == [
        KnownDevice(id: "strap:1", name: "Strap"), KnownDevice(id: "door"),
        KnownDevice(id: "strap:2", name: "Strap"),
      ])
  }

  /// The error of a store is reported, and does not prevent a connection.
  @Test func aFailingStoreDoesNotPreventAConnection() throws {
    let faults = Mutex<[Store.Fault]>([])
    try VirtualTimeline().run { clock in
      let straps = TwoStraps(clock: clock)
      let dialer = Dialer(
        to: AdvertisementFilter(), from: straps, within: .seconds(20), on: clock
      ).remembering(in: Store(isFull: true)) { fault in faults.withLock { $0.append(fault) } }
      await Self.connect(dialer, on: clock)
    }
    #expect(faults.withLock { $0 } == [.full])
  }

  @Test func theLastDeviceIsTheFirstAndCanBeForgotten() async throws {
    let store = Store()
    #expect(try await store.last() == nil)
    try await store.remember("a", name: "Door")
    try await store.remember("b", name: nil)
    try await store.remember("a", name: nil)
    #expect(try await store.last() == KnownDevice(id: "a", name: "Door"))
    try await store.forget("a")
    #expect(try await store.last()?.id == "b")
  }
}
