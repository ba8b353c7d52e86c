#if Fleet
import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of workers whose connection to the exchange fails: no device may have two writers, and no
/// outcome may be lost.
@Suite struct PartitionTests {
  /// Returns a scene with one device whose transfer takes minutes.
  private static func slowScene() -> Scene {
    var scene = Scene(0, and: ["fast?interval=1s&seed=5"])
    scene.campaign.flash.writing = .withResponse
    scene.campaign.flash.mtu = 64
    scene.campaign.waves[0].thresholds = FleetEngineTests.lenient
    return scene
  }

  /// The number of received data bytes, by second.
  private final class Samples: Sendable {
    private let stored = Mutex<[Int]>([])

    var all: [Int] { stored.withLock { $0 } }

    func watch(_ transport: BoardTransport, _ clock: any LinkClock) async {
      repeat {
        let bytes = transport.boards["other0"]?.counters.dataBytes ?? 0
        stored.withLock { $0.append(bytes) }
      } while await clock.pause(for: .seconds(1))
    }
  }

  private static let partition = 40..<100

  /// The exchange does not answer for 60 s: the worker stops 30 s after its last renewal, which is
  /// 15 s before another worker may receive the job, and continues afterwards.
  @Test func aWorkerWithoutRepliesStopsBeforeItsLeaseEnds() throws {
    var scene = Self.slowScene()
    let samples = Samples()
    scene.meanwhile = { await samples.watch($0, $1) }
    scene.exchange = { clock in
      FlakyExchange(clock) { (_, _, at) in
        Self.partition.contains(Int(at / .seconds(1))) ? .requestLost : .works
      }
    }
    let outcome = try scene.run()
    let bytes = samples.all
    let (last, start) = (Self.partition.lowerBound - 5, Self.partition.lowerBound)
    #expect(bytes.count > 110, "the transfer takes longer than the partition: \(bytes)")
    #expect(bytes[start + 15] > bytes[start], "the lease is used: \(bytes)")
    #expect(bytes[last + 37] == bytes[99], "nothing is sent after the deadline: \(bytes)")
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    #expect(outcome.truth["other0"] == FleetEngineTests.new)
    let expiries = outcome.history.count { recorded in
      if case .claimExpired = recorded.event { true } else { false }
    }
    #expect(expiries <= 1)
  }

  /// A partition that is shorter than the deadline interrupts nothing.
  @Test func aShortPartitionInterruptsNothing() throws {
    var scene = Self.slowScene()
    scene.exchange = { clock in
      FlakyExchange(clock) { (_, _, at) in
        (40..<60).contains(Int(at / .seconds(1))) ? .requestLost : .works
      }
    }
    let outcome = try scene.run()
    #expect(outcome.run["other0"]?.ending == .updated)
    #expect(outcome.run["other0"]?.attempts == 1)
  }

  /// Every second reply of one kind of call is lost, or every second request.
  @Test(arguments: FlakyExchange.Call.allCases, [true, false])
  func lostRepliesLoseNoOutcome(_ call: FlakyExchange.Call, _ losesReply: Bool) throws {
    var scene = Scene(8)
    let made = Made()
    scene.exchange = { clock in
      let exchange = FlakyExchange(clock) { (called, number, _) in
        called == call && !number.isMultiple(of: 2)
          ? losesReply ? .replyLost : .requestLost : .works
      }
      made.note(exchange)
      return exchange
    }
    let outcome = try scene.run()
    #expect(outcome.run.control == .ended(.complete(failed: 0)))
    for (device, version) in outcome.truth { #expect(version == FleetEngineTests.new, "\(device)") }
    for (device, sent) in outcome.sent { #expect(sent < 2 * 12_000, "\(device)") }
    #expect(outcome.heldTwice == 0)
    if call != .renew, call != .release { #expect(made.lost > 0) }
  }

  private final class Made: Sendable {
    private let stored = Mutex<[FlakyExchange]>([])

    var lost: Int { stored.withLock { $0.reduce(0) { $0 + $1.lostCount } } }

    func note(_ exchange: FlakyExchange) { stored.withLock { $0.append(exchange) } }
  }

  /// The outcome is reported when the exchange answers again, a minute after the lease ended; no
  /// second worker reads the device.
  @Test func anOutcomeIsDeliveredAfterTheLeaseEnded() throws {
    var scene = Scene(1)
    scene.exchange = { FlakyExchange($0, Self.losing(began: Began())) }
    let outcome = try scene.run()
    #expect(outcome.run["board0"]?.ending == .updated)
    let names = outcome.history.compactMap { recorded -> String? in
      switch recorded.event {
      case .claimExpired: "expired"
      case .outcomeReportedLate: "late"
      case .deviceClaimed: "claimed"
      case .attemptEnded(_, _, .updated): "updated"
      default: nil
      }
    }
    #expect(names == ["claimed", "expired", "late", "updated"])
  }

  private final class Began: Sendable {
    let time = Mutex<Duration?>(nil)
  }

  /// Returns a script in which the exchange does not answer for 100 s, starting with the first call
  /// of `finish`.
  private static func losing(began: Began) -> FlakyExchange.Script {
    { (call, _, at) in
      began.time.withLock { began in
        if call == .finish, began == nil { began = at }
        guard let began else { return .works }
        return at < began + .seconds(100) ? .requestLost : .works
      }
    }
  }

  /// A process that was suspended finds its deadline in the past, before its next PDU.
  @Test func aSuspendedWorkerSendsNothingMore() throws {
    try VirtualTimeline().run { clock -> Result<Void, any Error> in
      let asleep = Suspension()
      let deadline = ClaimDeadline(grantedAt: .zero, elapsed: { asleep.time })
      let (host, device) = MemoryLink.pair()
      let link = ClaimedLink(host, until: deadline)
      do {
        try await link.send([1])
        #expect(try await device.receive() == [1])
        asleep.add(.seconds(31))
        #expect(throws: LinkLoss.closedLocally) { try link.offer([2]) }
        do throws(LinkLoss) {
          try await link.send([2])
          Issue.record("a PDU was sent after the deadline")
        } catch {
          #expect(error == .closedLocally)
        }
        do throws(LinkLoss) {
          let pdu = try await device.receive()
          Issue.record("the device received \(pdu)")
        } catch {
          #expect(error == .closedByPeer)
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }.get()
  }

  private final class Suspension: Sendable {
    private let stored = Mutex(Duration.zero)

    var time: Duration { stored.withLock { $0 } }

    func add(_ duration: Duration) { stored.withLock { $0 += duration } }
  }

  /// A job ends within 10 s after its cancellation, and not at the end of its transfer.
  @Test func aRecallReachesTheWorkerBeforeItsTransferEnds() throws {
    let scene = Self.slowScene()
    let outcome = try scene.run(asking: Requests([(50, .cancel)]))
    #expect(outcome.run.control == .ended(.cancelled))
    #expect(outcome.took < .seconds(60), "\(outcome.took)")
  }
}
#endif
