import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Tests of the choice of the content, and of the reason if the content is not a patch. Each row
/// changes a decision that has no obstacle.
@Suite struct DeliveryDecisionTests {
  private static let old = image(size: 12_000, seed: 3).bytes
  private static let new = old.enumerated().map { $0 % 7 == 3 ? $1 &+ UInt8($0 % 251) : $1 }
  private static let running = ContentIdentity(of: old)

  /// The decision for a device that has reported everything, and a host that has the base.
  private static func decision(_ policy: DeltaPolicy = .auto) -> DeliveryDecision {
    DeliveryDecision(
      policy: policy,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 8, largestLookahead: 7, pageSize: 1024),
      conditions: DeliveryConditions(bytesPerSecond: 1_000, pageSize: 1024), running: running,
      base: old)
  }

  private struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let expected: String
    let change: @Sendable (inout DeliveryDecision) -> Void

    init(
      _ description: String, _ expected: String,
      _ change: @escaping @Sendable (inout DeliveryDecision) -> Void = { _ in }
    ) {
      (testDescription, self.expected, self.change) = (description, expected, change)
    }
  }

  private static let cases = [
    Case("no obstacle", "patch"),
    Case("patches are disabled", "image") { $0.policy = .never },
    Case("the device supports no patches", "image: not-understood") { $0.abilities = nil },
    Case("it does not report the running image", "image: base-not-told") {
      ($0.running, $0.base) = (nil, nil)
    },
    Case("it cannot read the running image", "image: base-unreadable") {
      ($0.running, $0.base, $0.absence) = (nil, nil, .baseUnreadable)
    },
    Case("required, but the running image cannot be read", "refuse: base-unreadable") {
      ($0.policy, $0.running, $0.base, $0.absence) = (.require, nil, nil, .baseUnreadable)
    },
    Case("the running image is not on the host", "image: base-unknown") { $0.base = nil },
    Case("patches were abandoned", "image: refused") { $0.givenUp = .refused },
    Case("the base has nothing in common with the image", "image: no-gain") {
      $0.base = image(size: 12_000, seed: 99).bytes
    },
    Case("nearly all of the image is held", "image: rest-is-sooner") { $0.held = 11_990 },
    Case("a little of the image is held", "patch") { $0.held = 1_000 },
    Case("another stream is held", "patch") { $0.begun = ContentIdentity(size: 9, crc32: 1) },
    Case("required, and possible", "patch") { $0.policy = .require },
    Case("required, and nearly all held", "patch") {
      ($0.policy, $0.held) = (.require, 11_990)
    },
    Case("required, of little use", "patch") {
      ($0.policy, $0.base) = (.require, image(size: 12_000, seed: 99).bytes)
    },
    Case("required, not understood", "refuse: not-understood") {
      ($0.policy, $0.abilities) = (.require, nil)
    },
    Case("required, no base", "refuse: base-unknown") { ($0.policy, $0.base) = (.require, nil) },
    Case("required, but abandoned", "refuse: made-other-image") {
      ($0.policy, $0.givenUp) = (.require, .madeOtherImage)
    },
  ]

  @Test(arguments: cases)
  private func aDecision(_ row: Case) {
    var decision = Self.decision()
    row.change(&decision)
    #expect(Self.words(decision.verdict(for: Self.new)) == row.expected)
  }

  @Test func aCompressibleImageIsCompressedWithoutABase() {
    var decision = Self.decision()
    decision.base = nil
    let text = (0..<9_000).map { UInt8($0 / 5 % 11) }
    #expect(Self.words(decision.verdict(for: text)) == "compressed: base-unknown")
    decision.policy = .require
    #expect(Self.words(decision.verdict(for: text)) == "refuse: base-unknown")
  }

  /// The base was found after the interruption. A patch is faster than the rest of the compressed
  /// image, unless the device holds nearly all of the compressed image.
  @Test func aPatchReplacesACompressedImageThatHasJustStarted() throws {
    let text: [UInt8] = (0..<12_000).map { place in UInt8(place / 5 % 11) ^ UInt8(place % 3) }
    var decision = Self.decision()
    decision.base = nil
    guard case .stream(let first, _) = decision.verdict(for: text) else {
      Issue.record("the image is not compressed")
      return
    }
    decision.begun = ContentIdentity(of: first.bytes)
    #expect(Self.words(decision.verdict(for: text)) == "compressed: base-unknown")
    decision.base = text.enumerated().map { $0 == 5_000 ? 1 : $1 }
    #expect(Self.words(decision.verdict(for: text)) == "patch")
    decision.begunOffset = first.bytes.count - 2
    #expect(Self.words(decision.verdict(for: text)) == "compressed: rest-is-sooner")
  }

  /// The resumed run has another link, for which the parts would have another size.
  @Test func aPartlySentStreamIsCreatedAgainUnderOtherConditions() throws {
    var decision = Self.decision()
    decision.conditions = DeliveryConditions(
      bytesPerSecond: 20, pageSize: 1024, secondsBetweenResets: 30)
    guard case .stream(let first, _) = decision.verdict(for: Self.new) else {
      Issue.record("there is a patch")
      return
    }
    #expect(first.partSize < Self.new.count)
    decision = Self.decision()
    guard case .stream(let other, _) = decision.verdict(for: Self.new) else {
      Issue.record("there is a patch")
      return
    }
    #expect(other.bytes != first.bytes)
    decision.begun = ContentIdentity(of: first.bytes)
    guard case .stream(let again, nil) = decision.verdict(for: Self.new) else {
      Issue.record("the patch is not created again")
      return
    }
    #expect(again.bytes == first.bytes)
  }

  /// Two devices in sequence: the second receives the stream of the first.
  @Test func aCreatedStreamIsStored() throws {
    let made = PatchCache()
    var decision = Self.decision()
    let pair = PatchCache.Pair(
      image: ContentIdentity(of: Self.new), base: Self.running,
      abilities: try #require(decision.abilities))
    let makings = Mutex(0)
    func decide() -> [UInt8] {
      let shelf = made.shelf(for: pair)
      let decided = decision.decision(for: Self.new) { planner in
        planner.remembering = { recipe, compose in
          shelf.stream(recipe) {
            makings.withLock { $0 += 1 }
            return compose()
          }
        }
      }
      guard case .stream(let delivery, _) = decided.verdict else { return [] }
      return delivery.bytes
    }
    let first = decide()
    let once = makings.withLock { $0 }
    #expect(!first.isEmpty && decide() == first && makings.withLock { $0 } == once)
    // Another link may need a stream with other parts; cached streams are not created again.
    decision.conditions = DeliveryConditions(
      bytesPerSecond: 20, pageSize: 1024, secondsBetweenResets: 30)
    #expect(decide() != first)
    let twice = makings.withLock { $0 }
    #expect(once <= twice && twice < 2 * once)
    #expect(!decide().isEmpty && makings.withLock { $0 } == twice)
  }

  /// The host creates the stream that the device holds, and no further stream. If the device holds
  /// an unknown stream, the host creates every stream that could have been the best.
  @Test func onlyThePartlySentStreamIsCreated() throws {
    let old = image(size: 150_000, seed: 3).bytes
    let new = old.enumerated().map { $0 % 7 == 3 ? $1 &+ UInt8($0 % 251) : $1 }
    var planner = DeliveryPlanner(
      image: new, abilities: try #require(Self.decision().abilities),
      conditions: DeliveryConditions(bytesPerSecond: 20_000, pageSize: 1024))
    let begun = planner.composed(against: PatchBase(old))
    var makings = 0
    planner.remembering = { _, compose in
      makings += 1
      return compose()
    }
    let crc32 = CRC32.checksum(begun.bytes)
    let again = try #require(planner.again(size: begun.bytes.count, crc32: crc32, base: old))
    #expect(again.bytes == begun.bytes && makings == 1)
    #expect(planner.again(size: 1, crc32: 1, base: old) == nil && makings == 1 + 2 * 3)
  }

  /// A stream for which no task waits is neither created nor stored.
  @Test func aCancelledStreamIsNeitherCreatedNorStored() throws {
    let shelf = PatchCache().shelf(
      for: PatchCache.Pair(
        image: ContentIdentity(of: Self.new), base: Self.running,
        abilities: try #require(Self.decision().abilities)))
    func decide(isCancelled: Bool) -> String {
      Self.words(
        Self.decision().decision(for: Self.new) { planner in
          planner.remembering = { shelf.stream($0, $1) }
          planner.isCancelled = { isCancelled }
        }.verdict)
    }
    #expect(decide(isCancelled: true).hasPrefix("image"))
    #expect(decide(isCancelled: false) == "patch")
  }

  private static func words(_ verdict: DeliveryDecision.Verdict) -> String {
    func because(_ what: String, _ obstacle: PatchObstacle?) -> String {
      what + (obstacle.map { ": \($0.code)" } ?? "")
    }
    switch verdict {
    case .image(let obstacle): return because("image", obstacle)
    case .refuse(let obstacle): return because("refuse", obstacle)
    case .stream(let delivery, let obstacle):
      return because(delivery.content == .compressed ? "compressed" : "patch", obstacle)
    }
  }
}

/// Tests of the conversion of stream bytes to image bytes.
@Suite struct StreamProgressTests {
  @Test func streamBytesAreConvertedToImageBytes() {
    let old = image(size: 9_000, seed: 3).bytes
    let new = Array(old[..<2_000] + image(size: 3_000, seed: 8).bytes + old[4_000...])
    let planner = DeliveryPlanner(
      image: new,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 8, largestLookahead: 7, pageSize: 1024),
      conditions: DeliveryConditions(bytesPerSecond: 10_000, pageSize: 1024))
    let delivery = planner.composed(against: PatchBase(old))
    let stream = OTAStream(
      delivery, of: ContentIdentity(of: new), against: OTABase(size: 9_000, crc32: 1),
      pageSize: 1024)
    let made = (0...delivery.bytes.count).map { stream.imageBytes(ofFirst: $0) }
    #expect(made.first == 0 && made.last == new.count)
    #expect(zip(made, made.dropFirst()).allSatisfy { $0 <= $1 })
    // The image is complete only at the end of the stream. A page is complete when the device holds
    // the stream bytes up to the end of the page.
    #expect(made.dropLast().allSatisfy { $0 < new.count })
    for (page, bytes) in delivery.bytesAtPages.dropLast().enumerated() {
      #expect(made[bytes] >= (page + 1) * 1024 && made[bytes - 1] < (page + 1) * 1024)
    }
    // The offset reported for a resume must never be larger than the number of created bytes. It
    // must be at a page boundary, one byte before the end of the image, or at the end.
    let held = (0...delivery.bytes.count).map { stream.imageBytesHeld(ofFirst: $0) }
    #expect(zip(held, made).allSatisfy { $0 <= $1 && $1 - $0 < 1024 })
    #expect(held.allSatisfy { $0 % 1024 == 0 || $0 >= new.count - 1 } && held.last == new.count)
  }
}

@Suite struct LinkRateTests {
  private func rate(_ change: (inout LinkFacts) -> Void, isAnswered: Bool, _ trip: Duration)
    -> Double
  {
    var facts = LinkFacts()
    change(&facts)
    return OTALinkRate(
      facts: facts, chunk: 240, window: 8192, isAnswered: isAnswered, roundTrip: trip
    ).bytesPerSecond
  }

  @Test func answeredWritesTakeTwoEventsEach() {
    let known = rate({ $0.connectionInterval = .milliseconds(15) }, isAnswered: true, .seconds(9))
    // 240 bytes in 30 ms are 8,000 bytes/s; the two highest bits of this rate are 6,144.
    #expect(known == 6144)
  }

  @Test func anUnknownIntervalIsMeasured() {
    #expect(rate({ _ in }, isAnswered: true, .milliseconds(60)) == 3072)
  }

  @Test func commandsFillTheAirOrTheWindow() {
    let air = rate(
      {
        $0.connectionInterval = .milliseconds(15)
        $0.phy = .le1M
      }, isAnswered: false, .zero)
    #expect((60_000.0...110_000).contains(air))
    let window = rate(
      { $0.connectionInterval = .milliseconds(500) }, isAnswered: false, .zero)
    #expect(window == 8192)
  }
}
