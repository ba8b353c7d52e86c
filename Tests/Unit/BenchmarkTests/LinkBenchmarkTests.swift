import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Measures a simulated device in virtual time.
func measure(
  _ profile: String, _ adjust: (inout LinkBenchmark.Setting) -> Void = { _ in },
  roundTrip: @escaping @Sendable (Duration) -> Void = { _ in }
) throws -> [LinkBenchmark.Measurement] {
  var setting = LinkBenchmark.Setting()
  adjust(&setting)
  let benchmark = LinkBenchmark(setting: setting, observeRoundTrip: roundTrip)
  let timeline = VirtualTimeline()
  let board = try SimulatedBoard(
    profile: SimulationProfile(parsing: profile), clock: timeline.clock)
  let result = try timeline.run { clock -> Result<[LinkBenchmark.Measurement], UpdateFault> in
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await board.run() }
      defer { group.cancelAll() }
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
      do throws(UpdateFault) {
        return .success(try await benchmark.run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }
  }
  #expect(board.counters.flashOperations == 0, "a benchmark uses no flash")
  return try result.get()
}

@Suite struct LinkBenchmarkTests {
  @Test func withResponseIsOneWriteEveryTwoIntervals() throws {
    let times = Mutex<[Duration]>([])
    let found = try measure("sim:?interval=15ms") {
      $0.repeats = 2
    } roundTrip: { time in
      times.withLock { $0.append(time) }
    }
    #expect(found.count == 2 && found.allSatisfy { $0.bytes == 65_536 && $0.rewinds == 0 })
    #expect(
      found[0].link.connectionInterval == .milliseconds(15) && found[0].link.linkLayerPayload == 251
    )
    let limit = RadioModel().writeRequestLimit(mtu: 512)
    #expect(found[0].bytesPerSecond > 0.98 * limit && found[0].bytesPerSecond < limit)
    let writes = times.withLock { $0.count }
    #expect(writes == 260)
  }

  @Test func withoutResponseFillsTheAir() throws {
    let found = try measure("sim:?interval=30ms&ring=60K") {
      $0.mode = .withoutResponse
      $0.size = 512 * 1024
    }
    var model = RadioModel()
    model.interval = .milliseconds30
    let share = found[0].bytesPerSecond / model.eventPackedLimit(mtu: 498)
    #expect(share > 0.95 && share < 1)
  }

  /// One request per window costs at most 1.5 % of the rate, but a response to each write costs
  /// more than four fifths.
  @Test(arguments: ["", "&phy=1M", "&interval=50ms"])
  func autoIsAsFastAsCommandsOnly(_ profile: String) throws {
    let rates = try [WriteMode.auto, .withoutResponse, .withResponse].map { mode in
      try measure("sim:?ring=60K&slot=4M" + profile) {
        $0.mode = mode
        $0.size = mode == .withResponse ? 64 * 1024 : 2 * 1024 * 1024
      }[0].bytesPerSecond
    }
    #expect(rates[0] > 0.985 * rates[1] && rates[0] > 5 * rates[2], "\(rates)")
  }

  /// Writes that fill connection events are faster than writes that fill packets.
  @Test(arguments: [(247, 166_000.0), (498, 170_000)])
  func theSizeThatFillsEventsIsUsed(_ mtu: Int, _ least: Double) throws {
    let found = try measure("sim:?interval=15ms&ring=60K&slot=4M") {
      $0.mode = .withoutResponse
      $0.mtu = mtu
      $0.size = 2 * 1024 * 1024
    }[0]
    #expect(found.pduSize < mtu && found.bytesPerSecond > least, "\(found.bytesPerSecond)")
  }

  @Test func aSmallWindowLimitsTheSender() throws {
    let found = try measure("sim:") {
      $0.mode = .withoutResponse
      $0.window = 1024
      $0.size = 16 * 1024
    }
    #expect(found[0].waits.device > found[0].took * 0.9)
    let limit = RadioModel().eventPackedLimit(mtu: 498)
    #expect(found[0].bytesPerSecond < 0.5 * limit)
  }

  @Test(
    arguments: ["window-flaps", "durable-wanders", "refuses-data"], WriteMode.allCases)
  func aDeviceThatAcceptsNoDataEndsTheMeasurement(_ fault: String, _ mode: WriteMode) {
    #expect(throws: UpdateFault.self) { try measure("sim:?\(fault)") { $0.mode = mode } }
  }

  @Test func aMissingKeyIsReported() {
    #expect(throws: UpdateFault.authorizationRequired) {
      try measure("sim:?key=000102030405060708090a0b0c0d0e0f")
    }
  }
}
