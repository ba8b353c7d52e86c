import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct ReconnectionTests {
  /// What a device does with each connection attempt, in order; the last is repeated.
  private enum Attempt: Sendable {
    case answers
    /// The link stands for so long, then the radio goes silent.
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
  private static let notFound = ConnectFault.deviceNotFound(cause: "c", remedy: "r")
  private static let noRight = ConnectFault.permissionDenied(cause: "c", remedy: "r")

  @Test func theBodyRunsAgainAfterALossUntilItReturns() throws {
    let run = try run([.loses(after: .seconds(2)), .notFound, .answers])
    #expect(run == Run(bodies: 2, attempts: 3, took: .seconds(2 + 1 + 2)))
  }

  @Test func attemptsInARowAreBounded() throws {
    let run = try run([.loses(after: .seconds(2)), .notFound])
    #expect(
      run == Run(bodies: 1, attempts: 4, fault: .connect(Self.notFound), took: .seconds(2 + 7)))
  }

  @Test func aConnectionThatIsSoonLostDoesNotStartTheCountOver() throws {
    let run = try run([.loses(after: .seconds(10))])
    #expect(run.attempts == 4)
    #expect(run.fault == .gatt(.linkLost(.supervisionTimeout)))
  }

  @Test func aConnectionThatLastedStartsTheCountOver() throws {
    let lasting = [Attempt](repeating: .loses(after: .seconds(11)), count: 6)
    let run = try run(lasting + [.answers])
    #expect(run == Run(bodies: 7, attempts: 7, took: .seconds(6 * (11 + 1))))
  }

  @Test func whatNoConnectionMendsIsThrownAtOnce() throws {
    let missing = try run([.noRight])
    #expect(missing == Run(attempts: 1, fault: .connect(Self.noRight)))
    let refused = try run([.answers]) { () throws(GATTFault) in
      throw .refused(AttributeHandle(1), .readNotPermitted)
    }
    #expect(refused.attempts == 1)
    #expect(refused.fault == .gatt(.refused(AttributeHandle(1), .readNotPermitted)))
  }

  @Test func commandsGoOnBesideTheBody() throws {
    let value = try VirtualTimeline().run { clock -> [UInt8]? in
      let (near, far) = PipeLink.pair(capacity: 4)
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

  /// Keeps a connection to a device that treats attempts as told; the body reads once a second
  /// until the connection that answers, then does `last`.
  private func run(
    _ script: [Attempt], last: @escaping @Sendable () throws(GATTFault) -> Void = {}
  ) throws -> Run {
    try VirtualTimeline().run { clock in
      await withTaskGroup(of: Void.self) { group in
        let links = Mailbox<(PipeLink, Attempt)>(capacity: 64)
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
            let (near, far) = PipeLink.pair(capacity: 4)
            links.offer((far, attempt))
            return near
          }
        }
        let fault = await withPeripheral(dialer, clock: clock) { peripheral in
          await Self.fault { () async throws(PeripheralFault) in
            try await peripheral.keepingConnected(Self.strategy) {
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

  private static func serve(_ link: PipeLink, _ attempt: Attempt, _ clock: VirtualClock) async {
    switch attempt {
    case .loses(let after):
      await clock.pause(for: after)
      link.loseSupervision()
    case .answers: await answerReads(on: link)
    case .notFound, .noRight: link.close()
    }
  }

  private static func answerReads(on link: PipeLink) async {
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
