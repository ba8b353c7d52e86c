import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests that the reported steps match the state of the connection.
@Suite struct ConnectionStepTests {
  private static let refusal = GATTFault.refused(
    AttributeReference(AttributeHandle(1)), .insufficientAuthorization)

  private static func machine(after inputs: ConnectionInput...) throws -> ConnectionMachine {
    var machine = ConnectionMachine()
    for input in [.connectStarted, .linkUp] + inputs { _ = try machine.apply(input) }
    return machine
  }

  @Test func aFailedProcedureRestoresThePreviousState() throws {
    let discovery = ConnectionInput.discoveryFailed(Self.refusal)
    let subscription = ConnectionInput.subscriptionFailed(Self.refusal)
    let cases: [([ConnectionInput], ConnectionInput, ConnectionState)] = [
      ([.discoveringServices], discovery, .connected),
      ([.subscribing], subscription, .connected),
      ([.discoveringServices, .servicesFound, .subscribing], subscription, .servicesReady),
      ([.subscribing, .subscribed, .subscribing], subscription, .ready),
      ([.subscribing, .subscribed, .discoveringServices], discovery, .ready),
      ([.subscribing, .discoveringServices, .servicesFound], subscription, .servicesReady),
      // If two procedures overlap, the state reports only the later procedure. The failure of the
      // other procedure leaves the reported state unchanged.
      ([.subscribing], discovery, .subscribing),
      ([.discoveringServices, .servicesFound], discovery, .servicesReady),
    ]
    for (path, failure, expected) in cases {
      var machine = ConnectionMachine()
      for input in [.connectStarted, .linkUp] + path { _ = try machine.apply(input) }
      let step = try machine.apply(failure)
      #expect(step.to == expected, "\(path)")
      #expect(step.failure == .gatt(Self.refusal))
      #expect(try machine.apply(.discoveringServices).to != .idle, "the connection remains usable")
    }
  }

  @Test func theEndOfOneSubscriptionIsReportedAfterTheFailureOfAnother() throws {
    var machine = try Self.machine(after: .subscribing, .subscribing)
    #expect(try machine.apply(.subscriptionFailed(Self.refusal)).to == .connected)
    #expect(try machine.apply(.subscribed).to == .ready)
  }

  @Test func connectingIsReportedBeforeAPlainDialerDials() throws {
    let seen = try VirtualTimeline().run { clock -> [String] in
      let steps = Mutex<[String]>([])
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        steps.withLock { $0.append("dialing") }
        await clock.pause(for: .seconds(3))
        throw .deviceNotFound(cause: "It is away.", remedy: .advice("Wait."))
      }.observing { step in steps.withLock { $0.append("\(step.from) to \(step.to)") } }
      return await withPeripheral(dialer, clock: clock) { peripheral in
        async let connected: Void? = try? peripheral.connect()
        await clock.pause(for: .seconds(1))
        let during = peripheral.connectionState.rawValue
        _ = await connected
        return steps.withLock { $0 } + [during]
      }
    }
    #expect(seen == ["idle to connecting", "dialing", "connecting to idle", "connecting"])
  }

  @Test func failedDiscoveryAndSubscriptionAreStepsWithTheirErrors() throws {
    let steps = Mutex<[ConnectionTransition]>([])
    let read = try withScript([
      .on("10 01 00 FF FF 00 28", "01 10 01 00 08"),
      .on("04 04 00 04 00", "05 01 04 00 02 29"), .on("12 04 00 01 00", "01 12 04 00 08"),
      .on("0A 03 00", "0B 2A"),
    ]) { dialer, _ in
      dialer.observing { step in steps.withLock { $0.append(step) } }
    } _: { client, _, _ in
      let level = DiscoveredCharacteristic(
        uuid: BluetoothUUID(0x2A19), properties: [.notify, .read],
        declaration: AttributeHandle(2), value: AttributeHandle(3), last: AttributeHandle(4))
      _ = await outcome { () async throws(GATTFault) in try await client.services() }
      _ = await outcome { () async throws(GATTFault) in
        _ = try await client.subscribe(to: level)
      }
      return await outcome { () async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(3))
      }
    }
    let configuration = AttributeReference(AttributeHandle(4), type: BluetoothUUID(0x2902))
    #expect(read == .success([0x2A]))
    #expect(
      Array(steps.withLock { $0 }.dropFirst(2).prefix(4)) == [
        ConnectionTransition(from: .connected, to: .discoveringServices),
        ConnectionTransition(
          from: .discoveringServices, to: .connected, failure: .gatt(Self.refusal)),
        ConnectionTransition(from: .connected, to: .subscribing),
        ConnectionTransition(
          from: .subscribing, to: .connected,
          failure: .gatt(.refused(configuration, .insufficientAuthorization))),
      ])
  }

  @Test func anImpossibleStepOfADialerIsReported() throws {
    let failures = try VirtualTimeline().run { clock -> [ConnectionFailure?] in
      let steps = Mutex<[ConnectionTransition]>([])
      let near = MemoryLink.pair(capacity: 1).0
      let dialer = Dialer(reporting: { (report) async throws(ConnectFault) -> any Link in
        report(.deviceFound)
        return near
      }).observing { step in steps.withLock { $0.append(step) } }
      await withPeripheral(dialer, clock: clock) { peripheral in
        _ = try? await peripheral.connect()
      }
      return steps.withLock { $0.map(\.failure) }
    }
    guard case .impossible(let step)?? = failures.first else {
      Issue.record("\(failures)")
      return
    }
    #expect(step.state == .idle && step.input == .deviceFound)
    #expect(failures.dropFirst().allSatisfy { $0 == nil })
  }
}
