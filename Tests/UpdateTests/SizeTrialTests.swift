import OtaflashATT
import Testing

@testable import OtaflashUpdate

/// The arithmetic of trying sizes: what is tried, for how long, and what is kept.
@Suite struct SizeTrialTests {
  private static let candidates = SizeCandidates(
    sizing: PDUSizing(phy: .le2M), mtu: ATTMTU(clamping: 498), header: 4, bytesPerAnswer: 2048)

  /// A device that acknowledges each 2 KiB at a rate that depends on the size of the writes.
  private struct Device {
    var trial: SizeTrial
    var chunk: Int
    /// What the bytes from an offset on were written with.
    private var sizes: [(from: Int, chunk: Int)]
    private(set) var now = Duration.zero
    private(set) var acknowledged = 0
    private(set) var tried: [Int]
    /// Bytes on their way.
    private let window = 8192

    init(_ trial: SizeTrial, first: Int) {
      self.trial = trial
      chunk = first
      sizes = [(0, first)]
      tried = [first]
    }

    /// Runs until the trial is over; `nil` where it is not, when all was sent.
    mutating func run(
      _ total: Int = 1 << 20, isRefusingAt refusal: Int? = nil, flashShare: Double = 0,
      rate: (Int) -> Double
    ) -> SizeTrial.Outcome? {
      while acknowledged < total {
        acknowledged += 2048
        let size = sizes.last { $0.from < acknowledged }?.chunk ?? chunk
        let took = Duration.seconds(2048 / rate(size))
        now += took
        if flashShare > 0 { trial.waitedForFlash(took * flashShare) }
        let next = acknowledged + window
        switch trial.acknowledged(
          acknowledged, next: next, isRefusing: refusal.map { acknowledged >= $0 } ?? false,
          at: LinkInstant(elapsed: now))
        {
        case .goOn: continue
        case .write(let size):
          chunk = size
          tried.append(size)
          sizes.append((next, size))
        case .over(let outcome): return outcome
        }
      }
      return nil
    }
  }

  private static func device(
    _ sizes: [Int], left: Int = 1 << 20, expecting expected: Double? = nil
  ) throws -> Device {
    let bounds = try #require(
      SizeTrial.Bounds(left: left, window: 8192, bytesPerAnswer: 2048))
    let trial = SizeTrial(first: sizes[0], at: 0, bounds, expecting: expected) { _ in
      Array(sizes.dropFirst())
    }
    return Device(trial, first: sizes[0])
  }

  // MARK: What is tried

  @Test func theLikeliestAreTriedFirstAndEachOnce() {
    let first = Self.candidates.best(for: nil)
    let rooms = SizeCandidates.rooms(for: .milliseconds(30))
    #expect(rooms[0] == .milliseconds(15) && rooms[1] == .milliseconds(30))
    let others = Self.candidates.others(than: first, rooms: rooms)
    #expect(others.first == Self.candidates.best(for: .milliseconds(15)))
    for (index, size) in ([first] + others).enumerated() {
      #expect(size == 240 || size * 2 >= 491)
      for other in others.dropFirst(index) { #expect(abs(size - other) > 2) }
    }
    // The smallest MTU has one size.
    let small = SizeCandidates(
      sizing: PDUSizing(linkLayerPayload: 27), mtu: .default, header: 4, bytesPerAnswer: 2048)
    #expect(small.others(than: small.best(for: nil), rooms: []) == [])
  }

  @Test func aRoundTripIsOneIntervalOrTwo() {
    #expect(
      SizeCandidates.rooms(for: .microseconds(97_600)).prefix(2)
        == [.microseconds(48_750), .microseconds(97_500)])
    #expect(SizeCandidates.rooms(for: .zero).first == .microseconds(7500))
  }

  @Test func littleThatIsLeftIsNoRoomForATrial() throws {
    #expect(SizeTrial.Bounds(left: 190_000, window: 8192, bytesPerAnswer: 2048) == nil)
    for left in [200_000, 400_000, 1_000_000, 16_000_000] {
      let bounds = try #require(
        SizeTrial.Bounds(left: left, window: 8192, bytesPerAnswer: 2048))
      #expect(bounds.sizes >= 2 && bounds.sizes <= 5)
      #expect(bounds.sizes * bounds.stretch <= min(left / 4, 192 * 1024))
      #expect(bounds.stretch >= 24 * 1024)
    }
    // Large windows make long stretches.
    #expect(SizeTrial.Bounds(left: 400_000, window: 61_440, bytesPerAnswer: 12_288) == nil)
  }

  // MARK: What is kept

  @Test func theBestIsKept() throws {
    var device = try Self.device([491, 470, 240])
    let outcome = try #require(device.run { [491: 150_000, 470: 160_000, 240: 120_000][$0] ?? 0 })
    #expect(outcome.kept == 470 && outcome.isWhole)
    #expect(device.tried == [491, 470, 240])
    #expect(outcome.rates.map { Int(($0.bytesPerSecond / 1000).rounded()) } == [150, 160, 120])
    // What was sent with one size is not counted for another.
    #expect(device.acknowledged <= 192 * 1024 + 2 * 8192)
  }

  @Test(arguments: [1.0, 1.019, 0.5])
  func theModelsChoiceStaysUnlessAnotherIsClearlyBetter(_ gain: Double) throws {
    var device = try Self.device([491, 470])
    let outcome = try #require(device.run { $0 == 491 ? 100_000 : 100_000 * gain })
    #expect(outcome.kept == 491 && outcome.isWhole)
  }

  /// Acknowledgements that come in steps tell a rate less exactly: what they cannot tell apart is
  /// left alone.
  @Test func theErrorOfAMeasureCounts() {
    var rate = AcknowledgedRate()
    for index in 0..<16 {
      // A connection event brings one and a half acknowledgements.
      let event = (index * 2 + 2) / 3
      rate.add(index * 2048, at: LinkInstant(elapsed: .milliseconds(15) * event))
    }
    let bytesPerSecond = rate.bytesPerSecond ?? 0
    #expect(abs(bytesPerSecond / (2048 * 1.5 / 0.015) - 1) < 0.05)
    #expect(rate.error > 0.005 && rate.error < 0.05)
    var exact = AcknowledgedRate()
    #expect(exact.bytesPerSecond == nil && exact.error == 1)
    for index in 0..<4 {
      exact.add(index * 1000, at: LinkInstant(elapsed: .milliseconds(10) * index))
    }
    #expect(exact.error < 1e-6 && abs((exact.bytesPerSecond ?? 0) - 100_000) < 0.1)
  }

  // MARK: What is no measure

  @Test func flashThatIsTheLimitEndsIt() throws {
    var device = try Self.device([491, 470])
    let outcome = try #require(device.run(flashShare: 0.5) { $0 == 491 ? 100_000 : 200_000 })
    #expect(outcome.kept == 491 && !outcome.isWhole && device.tried == [491])
    var refusing = try Self.device([491, 470])
    let refused = try #require(refusing.run(isRefusingAt: 30_000) { $0 == 491 ? 1e5 : 2e5 })
    #expect(refused.kept == 491 && !refused.isWhole && refused.rates.isEmpty)
  }

  @Test func aSetbackLeavesWhatIsKnown() throws {
    var device = try Self.device([491, 470, 240])
    #expect(device.run(12_000) { $0 == 491 ? 100_000 : 150_000 } == nil)
    #expect(device.trial.best == 491)
    guard case .over(let early) = device.trial.disturbed() else { throw CancellationError() }
    #expect(early.kept == 491 && !early.isWhole)
    #expect(device.trial.isOver && device.trial.disturbed() == .goOn)
    var later = try Self.device([491, 470, 240])
    #expect(later.run(45_000) { $0 == 491 ? 100_000 : 150_000 } == nil)
    guard case .over(let outcome) = later.trial.disturbed() else { throw CancellationError() }
    #expect(outcome.kept == 470 && !outcome.isWhole)
  }

  @Test func aLinkThatIsTooSlowIsNotTriedForLong() throws {
    var device = try Self.device([491, 470, 240])
    _ = device.run { _ in 500 }
    #expect(device.now <= .seconds(40))
  }

  // MARK: What was expected

  @Test(arguments: [0.95, 1.3])
  func whatBringsWhatItOughtToIsLeftAlone(_ share: Double) throws {
    var device = try Self.device([491, 470], expecting: 100_000)
    let outcome = try #require(device.run { _ in 100_000 * share })
    #expect(outcome.kept == 491 && device.tried == [491])
  }

  @Test func whatDoesClearlyWorseIsTriedAgainstOthers() throws {
    var device = try Self.device([491, 470], expecting: 100_000)
    let outcome = try #require(device.run { $0 == 491 ? 80_000 : 90_000 })
    #expect(outcome.kept == 470 && outcome.isWhole && device.tried == [491, 470])
  }
}
