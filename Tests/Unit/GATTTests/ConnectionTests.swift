import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Testing

@Suite struct ConnectionTests {
  @Test func theMachineGoesFromIdleToReady() throws {
    var machine = ConnectionMachine()
    let inputs: [ConnectionInput] = [
      .scanStarted, .deviceFound, .connectStarted, .linkUp, .discoveringServices, .servicesFound,
      .subscribing, .subscribed,
    ]
    let states = try inputs.map { try machine.apply($0).to }
    #expect(states == Array(ConnectionState.allCases.dropFirst()))
  }

  @Test(arguments: ConnectionState.allCases)
  func aFailureInAnyStateLeadsToIdleAndIsReported(_ state: ConnectionState) throws {
    var machine = ConnectionMachine()
    let path: [ConnectionInput] = [
      .scanStarted, .deviceFound, .connectStarted, .linkUp, .discoveringServices, .servicesFound,
      .subscribing, .subscribed,
    ]
    for input in path where machine.state != state { _ = try machine.apply(input) }
    let failure = ConnectionFailure.gatt(.linkLost(.supervisionTimeout))
    let step = try machine.apply(.failed(failure))
    #expect(step == ConnectionTransition(from: state, to: .idle, failure: failure))
  }

  @Test func anImpossibleStepIsRefusedAndChangesNothing() {
    var machine = ConnectionMachine()
    #expect(throws: ConnectionMachine.IllegalStep.self) { try machine.apply(.subscribed) }
    #expect(machine.state == .idle)
  }

  @Test func strategiesGrowAsTheirNamesStateWithinTheirLimits() {
    let linear = ReconnectionStrategy.linear(
      base: .seconds(1), ceiling: .seconds(3), attempts: 4, jitter: 0)
    let exponential = ReconnectionStrategy.exponential(
      base: .seconds(1), ceiling: .seconds(5), attempts: 4, jitter: 0.5)
    #expect(
      (1...5).map { linear.delay(beforeAttempt: $0, random: 0) } == [
        .seconds(1), .seconds(2), .seconds(3), .seconds(3), nil,
      ])
    #expect(
      (1...5).map { exponential.delay(beforeAttempt: $0, random: 1) } == [
        .seconds(0.5), .seconds(1), .seconds(2), .seconds(2.5), nil,
      ])
    #expect(ReconnectionStrategy.none.delay(beforeAttempt: 1, random: 0) == nil)
    let constant = ReconnectionStrategy.constant(.seconds(5), attempts: .max, jitter: 0)
    #expect(
      [1, 2, .max].map { constant.delay(beforeAttempt: $0, random: 0) } == [
        .seconds(5), .seconds(5), .seconds(5),
      ])
    let custom = ReconnectionStrategy.custom(ceiling: .seconds(9), attempts: 4, jitter: 0) {
      $0 == 3 ? nil : .seconds(5 * $0)
    }
    #expect(
      (1...5).map { custom.delay(beforeAttempt: $0, random: 0) } == [
        .seconds(5), .seconds(9), nil, .seconds(9), nil,
      ])
  }

  @Test func aPeripheralReportsItsStepsAndReconnectsOnDemandAfterALoss() throws {
    let seen = try VirtualTimeline().run { clock -> [String] in
      let links = (0..<2).map { _ in MemoryLink.pair(capacity: 4) }
      let next = Counter()
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in links[next.take()].0 }
      return await withPeripheral(dialer, clock: clock) { peripheral in
        let steps = peripheral.transitions()
        await withTaskGroup(of: Void.self) { group in
          for (_, far) in links { group.addTask { await Self.answerReads(on: far) } }
          for _ in 0..<2 {
            _ = await Self.read(peripheral)
            await clock.pause(for: .seconds(1))
            links[next.value - 1].1.loseSupervision()
            await clock.pause(for: .seconds(1))
          }
        }
        var names: [String] = []
        var iterator = steps.makeAsyncIterator()
        for _ in 0..<6 { if let step = await iterator.next() { names.append(step.to.rawValue) } }
        return names
      }
    }
    #expect(seen == ["connecting", "connected", "idle", "connecting", "connected", "idle"])
  }

  private static func answerReads(on link: MemoryLink) async {
    do throws(LinkLoss) {
      while true {
        _ = try await link.receive()
        try await link.send([0x0B, 1])
      }
    } catch {
      return
    }
  }

  private static func read(_ peripheral: Peripheral) async -> [UInt8]? {
    do throws(PeripheralFault) {
      return try await peripheral.perform("read") { (client) async throws(GATTFault) in
        try await client.read(handle: AttributeHandle(1))
      }
    } catch {
      return nil
    }
  }
}
