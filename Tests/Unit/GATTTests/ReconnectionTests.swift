import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct ReconnectionTests {
  /// The behavior of the device at one connection attempt. A script lists the attempts in order;
  /// its last entry applies to all further attempts.
  private enum Attempt: Sendable {
    case answers
    /// The device answers no request, and the link is lost after this time.
    case loses(after: Duration)
    case notFound
    case noRight
  }

  private struct Run: Equatable, Sendable {
    var bodies = 0
    var attempts = 0
    var fault: PeripheralFault?
    var took: Duration = .zero
  }

  private static let strategy = ReconnectionStrategy.exponential(
    base: .seconds(1), ceiling: .seconds(10), attempts: 3, jitter: 0)
  private static let notFound = ConnectFault.deviceNotFound(cause: "c", remedy: .advice("r"))
  private static let noRight = ConnectFault.permissionDenied(cause: "c", remedy: .advice("r"))

  @Test func theBodyRunsAgainAfterALossUntilItReturns() throws {
    let run = try run([.loses(after: .seconds(2)), .notFound, .answers])
    #expect(run == Run(bodies: 2, attempts: 3, took: .seconds(2 + 1 + 2)))
  }

  @Test func consecutiveAttemptsAreLimited() throws {
    let run = try run([.loses(after: .seconds(2)), .notFound])
    #expect(
      run == Run(bodies: 1, attempts: 4, fault: .connect(Self.notFound), took: .seconds(2 + 7)))
  }

  @Test func aShortConnectionDoesNotRestartTheCount() throws {
    let run = try run([.loses(after: .seconds(10))])
    #expect(run.attempts == 4)
    #expect(run.fault == .gatt(.linkLost(.supervisionTimeout)))
  }

  @Test func aLongConnectionRestartsTheCount() throws {
    let lasting = [Attempt](repeating: .loses(after: .seconds(11)), count: 6)
    let run = try run(lasting + [.answers])
    #expect(run == Run(bodies: 7, attempts: 7, took: .seconds(6 * (11 + 1))))
  }

  @Test func permanentFailuresAreThrownImmediately() throws {
    let missing = try run([.noRight])
    #expect(missing == Run(attempts: 1, fault: .connect(Self.noRight)))
    let refused = try run(
      [.answers],
      last: { () throws(GATTFault) in
        throw .refused(AttributeReference(AttributeHandle(1)), .readNotPermitted)
      })
    #expect(refused.attempts == 1)
    #expect(
      refused.fault == .gatt(.refused(AttributeReference(AttributeHandle(1)), .readNotPermitted)))
  }

  @Test func eachAttemptIsReportedWithItsNumberItsWaitAndTheRemainingAttempts() throws {
    let lost = PeripheralFault.gatt(.linkLost(.supervisionTimeout))
    let events = try events(of: [.loses(after: .seconds(2)), .notFound])
    #expect(
      events == [
        .willReconnect(attempt: 1, remaining: 2, wait: .seconds(1), cause: lost),
        .willReconnect(
          attempt: 2, remaining: 1, wait: .seconds(2), cause: .connect(Self.notFound)),
        .willReconnect(
          attempt: 3, remaining: 0, wait: .seconds(4), cause: .connect(Self.notFound)),
        .gaveUp(attempts: 3, cause: .connect(Self.notFound)),
      ])
    let recovered = try self.events(of: [.loses(after: .seconds(2)), .notFound, .answers])
    #expect(recovered.last == .reconnected(attempt: 2))
    #expect(
      try self.events(of: [.noRight]) == [.gaveUp(attempts: 0, cause: .connect(Self.noRight))])
  }

  @Test func anAdapterThatStaysOffIsReportedAsTheCause() throws {
    let (fault, took) = try VirtualTimeline().run { clock -> (ScanFault?, Duration) in
      let adapter = SleepingAdapter(clock: clock, wakes: .seconds(60))
      do throws(ScanFault) {
        try await adapter.waitUntilPoweredOn(within: .seconds(10), on: clock)
        return (nil, clock.now.elapsed)
      } catch {
        return (error, clock.now.elapsed)
      }
    }
    #expect(
      fault
        == .adapterUnavailable(
          cause: "The adapter was not switched on within \(Duration.seconds(10)).",
          remedy: .turnAdapterOn(adapter: nil)))
    #expect(took == .seconds(10))
  }

  @Test func theHostWaitsForAnAdapterThatWasSwitchedOff() throws {
    let (events, took) = try VirtualTimeline().run { clock -> ([String], Duration) in
      let seen = Mutex<[String]>([])
      let off = ConnectFault.adapterUnavailable(
        cause: "It is off.", remedy: .advice("Switch it on."))
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        if clock.now.elapsed < .seconds(3_600) { throw off }
        return MemoryLink.pair(capacity: 1).0
      }
      let adapter = SleepingAdapter(clock: clock, wakes: .seconds(3_600))
      await withPeripheral(dialer, clock: clock) { peripheral in
        let fault = await Self.fault { () async throws(PeripheralFault) in
          try await peripheral.keepingConnected(
            Self.strategy, waitingFor: adapter,
            reporting: { event in
              let name =
                switch event {
                case .waitingForAdapter(.connect(off)): "off"
                case .willReconnect(let attempt, _, let wait, _): "attempt \(attempt) in \(wait)"
                case .reconnected(let attempt): "reconnected at \(attempt)"
                case .waitingForAdapter, .gaveUp: "\(event)"
                }
              seen.withLock { $0.append(name) }
            }
          ) { (_) async throws(GATTFault) in }
        }
        #expect(fault == nil)
      }
      return (seen.withLock { $0 }, clock.now.elapsed)
    }
    #expect(events == ["off", "attempt 1 in 1.0 seconds", "reconnected at 1"])
    #expect(took == .seconds(3_601))
  }

  @Test func anAdapterFalselyReportedAsOnEndsTheAttempts() throws {
    let fault = try VirtualTimeline().run { clock -> PeripheralFault? in
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        throw .adapterUnavailable(cause: "c", remedy: .advice("r"))
      }
      let adapter = SleepingAdapter(clock: clock, wakes: .zero)
      return await withPeripheral(dialer, clock: clock) { peripheral in
        await Self.fault { () async throws(PeripheralFault) in
          try await peripheral.keepingConnected(Self.strategy, waitingFor: adapter) {
            (_) async throws(GATTFault) in
          }
        }
      }
    }
    #expect(fault == .connect(.adapterUnavailable(cause: "c", remedy: .advice("r"))))
  }

  /// Two hosts that lost the same device at the same time must reconnect at different times.
  @Test func waitsAreRandomByDefaultAndRepeatableByTheirSeed() throws {
    func waits(_ seed: UInt64?) throws -> [Duration] {
      let timeline = VirtualTimeline(chance: seed.map { SeededRandom(seed: $0) })
      return try timeline.run { clock -> [Duration] in
        let waits = Mutex<[Duration]>([])
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in throw Self.notFound }
        await withPeripheral(dialer, clock: clock) { peripheral in
          _ = await Self.fault { () async throws(PeripheralFault) in
            try await peripheral.keepingConnected(
              .constant(.seconds(10), attempts: 3),
              reporting: { event in
                if case .willReconnect(_, _, let wait, _) = event {
                  waits.withLock { $0.append(wait) }
                }
              }
            ) { (_) async throws(GATTFault) in }
          }
        }
        return waits.withLock { $0 }
      }
    }
    let drawn = try waits(1)
    #expect(drawn.allSatisfy { $0 > .seconds(8) && $0 < .seconds(10) })
    #expect(Set(drawn).count == 3)
    #expect(try waits(1) == drawn)
    #expect(try waits(2) != drawn)
    #expect(try waits(nil) == [Duration](repeating: .seconds(10), count: 3))
  }

  private func events(of script: [Attempt]) throws -> [ReconnectionEvent] {
    let events = Mutex<[ReconnectionEvent]>([])
    _ = try run(script, observing: { event in events.withLock { $0.append(event) } })
    return events.withLock { $0 }
  }

  @Test func aBodyMayThrowItsOwnErrorsWhichEndIt() throws {
    struct NotAThermometer: Error {}
    let bodies = Counter()
    let fault = try VirtualTimeline().run { clock -> String in
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        MemoryLink.pair(capacity: 1).0
      }
      return await withPeripheral(dialer, clock: clock) { peripheral -> String in
        do {
          return try await peripheral.keepingConnected { client in
            if bodies.take() == 1 { throw NotAThermometer() }
            throw GATTFault.linkLost(client.mtu == 23 ? .closedByPeer : .closedLocally)
          }
        } catch {
          return "\(type(of: error))"
        }
      }
    }
    #expect(fault == "NotAThermometer")
    #expect(bodies.value == 2)
  }

  @Test func commandsRunConcurrentlyWithTheBody() throws {
    let value = try VirtualTimeline().run { clock -> [UInt8]? in
      let (near, far) = MemoryLink.pair(capacity: 4)
      return await withTaskGroup(of: Void.self) { group in
        group.addTask { await Self.answerReads(on: far) }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in near }
        return await withPeripheral(dialer, clock: clock) { peripheral -> [UInt8]? in
          async let kept: PeripheralFault? = Self.fault {
            () async throws(PeripheralFault) in
            try await peripheral.keepingConnected(Self.strategy) {
              (_) async throws(GATTFault) -> Void in
              await clock.pause(for: .seconds(60))
            }
          }
          await clock.pause(for: .seconds(1))
          var value: [UInt8]?
          let fault = await Self.fault { () async throws(PeripheralFault) in
            value = try await peripheral.perform("read") { (client) async throws(GATTFault) in
              try await client.read(handle: AttributeHandle(1))
            }
          }
          return await kept == nil && fault == nil ? value : nil
        }
      }
    }
    #expect(value == [1])
  }

  // MARK: The device

  /// Keeps a connection to a device that behaves as `script` specifies. The body reads once, and
  /// performs `last` after the response.
  private func run(
    _ script: [Attempt], last: @escaping @Sendable () throws(GATTFault) -> Void = {},
    observing observe: @escaping @Sendable (ReconnectionEvent) -> Void = { _ in }
  ) throws -> Run {
    try VirtualTimeline().run { clock in
      await withTaskGroup(of: Void.self) { group in
        let links = Mailbox<(MemoryLink, Attempt)>(capacity: 64)
        group.addTask {
          while let (link, attempt) = await links.next() {
            await Self.serve(link, attempt, clock)
          }
        }
        let attempts = Counter()
        let bodies = Counter()
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in
          let attempt = script[min(attempts.take(), script.count - 1)]
          switch attempt {
          case .notFound: throw Self.notFound
          case .noRight: throw Self.noRight
          case .answers, .loses:
            let (near, far) = MemoryLink.pair(capacity: 4)
            links.offer((far, attempt))
            return near
          }
        }
        let fault = await withPeripheral(dialer, clock: clock) { peripheral in
          await Self.fault { () async throws(PeripheralFault) in
            try await peripheral.keepingConnected(Self.strategy, reporting: observe) {
              (client) async throws(GATTFault) in
              _ = bodies.take()
              _ = try await client.read(handle: AttributeHandle(1))
              try last()
            }
          }
        }
        links.finish()
        return Run(
          bodies: bodies.value, attempts: attempts.value, fault: fault, took: clock.now.elapsed)
      }
    }
  }

  private static func serve(_ link: MemoryLink, _ attempt: Attempt, _ clock: VirtualClock) async {
    switch attempt {
    case .loses(let after):
      await clock.pause(for: after)
      link.loseSupervision()
    case .answers: await answerReads(on: link)
    case .notFound, .noRight: link.close()
    }
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

  private static func fault(
    _ body: () async throws(PeripheralFault) -> Void
  ) async -> PeripheralFault? {
    do throws(PeripheralFault) {
      try await body()
      return nil
    } catch {
      return error
    }
  }
}

/// An adapter that is off until the clock reaches `wakes`, and on afterwards.
private struct SleepingAdapter: AdapterMonitor {
  let clock: VirtualClock
  let wakes: Duration

  struct States: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let clock: VirtualClock
    let wakes: Duration
    var reported = 0

    func makeAsyncIterator() -> States { self }

    mutating func next() async throws(ScanFault) -> AdapterState? { try await next(isolation: nil) }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> AdapterState? {
      reported += 1
      if reported == 1, clock.now.elapsed < wakes { return .poweredOff }
      guard clock.now.elapsed >= wakes || reported == 2 else { return nil }
      if clock.now.elapsed < wakes {
        guard await clock.pause(until: LinkInstant(elapsed: wakes)) else { throw .cancelled }
      }
      return .poweredOn
    }
  }

  func adapterStates() -> States { States(clock: clock, wakes: wakes) }
}
