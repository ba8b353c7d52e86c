import OtaflashATT

/// Tries a few sizes of data writes while an image is sent, and keeps the one by which the device
/// acknowledges the most. Pure; the session writes as it is told.
///
/// Nothing is held back for it: each size is written for a stretch, and what is acknowledged of
/// that stretch, and of no other, counts for it. A stretch that the device's flash held back tells
/// nothing of the air, and neither does one in which sending went back: then the trial is over.
struct SizeTrial: Sendable {
  /// How much is tried.
  struct Bounds: Equatable, Sendable {
    /// Sizes, the first one included.
    static let sizesMaximum = 5
    /// Of what is left to send, all stretches together.
    private static let share = 4
    private static let bytesMaximum = 192 * 1024
    /// Of a stretch: acknowledgements come with connection events, and some tens of these tell one
    /// size from another.
    private static let stretchMinimum = 24 * 1024
    private static let windows = 2
    private static let answers = 8

    /// Sizes at most.
    let sizes: Int
    /// Bytes of each stretch.
    let stretch: Int

    /// `nil` where there is no room for two sizes.
    ///
    /// - Parameters:
    ///   - left: bytes to be sent.
    ///   - window: bytes that may be on their way.
    ///   - bytesPerAnswer: bytes between two acknowledgements.
    init?(left: Int, window: Int, bytesPerAnswer: Int) {
      let least = max(
        Self.stretchMinimum, window * Self.windows, bytesPerAnswer * Self.answers)
      let budget = min(left / Self.share, Self.bytesMaximum)
      guard budget / least >= 2 else { return nil }
      sizes = min(budget / least, Self.sizesMaximum)
      stretch = budget / sizes
    }
  }

  /// What is to be done next.
  enum Step: Equatable {
    case goOn
    /// Data writes have this size from now on.
    case write(Int)
    /// It is over: data writes keep this size.
    case over(Outcome)
  }

  /// How it ended.
  struct Outcome: Equatable {
    /// Bytes of data in a write.
    let kept: Int
    /// What was measured, in the order tried.
    let rates: [SizeReport.Rate]
    /// All that was to be tried was tried, undisturbed.
    let isWhole: Bool
  }

  private struct Stretch {
    let chunk: Int
    /// The first byte that was written so.
    let begin: Int
    var rate = AcknowledgedRate()
  }

  /// By how much another size must be better than the model's.
  static let advantage = 1.02
  /// What does less than this share of what was expected does clearly worse.
  static let expectedShare = 0.9
  /// Waits for the device's flash above this share of the time are what holds a transfer back.
  private static let flashShare = 0.25
  /// A rate is known well enough.
  private static let errorSmall = 0.005
  private static let acknowledgementsMinimum = 8
  private static let timeMaximum = Duration.seconds(30)

  private let bounds: Bounds
  /// Bytes of data in a second that the first size ought to bring; `nil` = others are tried in any
  /// case.
  private let expected: Double?
  /// Those that are still to be tried, for a share of what was expected that the first has brought.
  private let others: @Sendable (Double) -> [Int]
  private var waiting: [Int]?
  private var stretches: [Stretch]
  private var flashWaits = Duration.zero
  private var began: LinkInstant?
  private(set) var isOver = false

  /// - Parameters:
  ///   - first: the size that the model, or an earlier trial, says is the best.
  ///   - offset: where sending begins.
  ///   - expected: bytes of data in a second; where it brings nearly as much, nothing else is
  ///     tried.
  ///   - others: the sizes to try beside it, the likeliest first, by the share of `expected` that
  ///     it brought.
  init(
    first: Int, at offset: Int, _ bounds: Bounds, expecting expected: Double? = nil,
    others: @escaping @Sendable (Double) -> [Int]
  ) {
    self.bounds = bounds
    self.expected = expected
    self.others = others
    stretches = [Stretch(chunk: first, begin: offset)]
  }

  /// The size that is kept by what is known so far.
  var best: Int { outcome(isWhole: false).kept }

  /// The device has everything before `offset`, and its CRC32 has agreed.
  ///
  /// - Parameters:
  ///   - next: the next byte to be sent.
  ///   - isRefusing: the device takes nothing for now.
  mutating func acknowledged(
    _ offset: Int, next: Int, isRefusing: Bool, at now: LinkInstant
  ) -> Step {
    guard !isOver else { return .goOn }
    let start = began ?? now
    began = start
    let took = start.duration(to: now)
    // What is there before anything was sent is no acknowledgement.
    guard offset > stretches[0].begin else { return .goOn }
    let index = stretches.lastIndex { $0.begin <= offset } ?? 0
    stretches[index].rate.add(offset, at: now)
    if isRefusing || isHeldBackByFlash(took) {
      isOver = true
      return .over(Outcome(kept: stretches[0].chunk, rates: [], isWhole: false))
    }
    guard took <= Self.timeMaximum else { return end() }
    let written = next - stretches[stretches.count - 1].begin
    let measured = stretches[stretches.count - 1].rate
    let isClear =
      measured.count >= Self.acknowledgementsMinimum && measured.error <= Self.errorSmall
    guard written >= bounds.stretch || isClear else { return .goOn }
    if stretches.count == 1, let expected {
      // Whether anything is tried at all, the first stretch must have told.
      guard measured.bytes >= bounds.stretch || isClear else { return .goOn }
      let share = (measured.bytesPerSecond ?? 0) / expected
      if share >= Self.expectedShare { return end() }
      return begin(share, next)
    }
    if let waiting, waiting.isEmpty {
      // The last stretch is over when what was written of it has been acknowledged.
      let isMeasured = measured.bytes >= bounds.stretch || isClear
      return isMeasured ? end(isWhole: true) : .goOn
    }
    return begin(1, next)
  }

  private mutating func begin(_ share: Double, _ next: Int) -> Step {
    var waiting = waiting ?? Array(others(share).prefix(bounds.sizes - 1))
    guard !waiting.isEmpty else { return end() }
    let chunk = waiting.removeFirst()
    self.waiting = waiting
    stretches.append(Stretch(chunk: chunk, begin: next))
    return .write(chunk)
  }

  /// The upload waited for the device while its flash had more to do than half a buffer.
  mutating func waitedForFlash(_ time: Duration) { flashWaits += time }

  private func isHeldBackByFlash(_ took: Duration) -> Bool {
    took > .zero && flashWaits > took * Self.flashShare
      && stretches[0].rate.count >= Self.acknowledgementsMinimum / 2
  }

  /// Sending went back: what comes now is no measure. What is known so far decides.
  mutating func disturbed() -> Step { isOver ? .goOn : end() }

  private mutating func end(isWhole: Bool = false) -> Step {
    isOver = true
    return .over(outcome(isWhole: isWhole))
  }

  /// Another size is kept where it is better by more than the measures may be wrong.
  private func outcome(isWhole: Bool) -> Outcome {
    let rates = stretches.compactMap { stretch in
      stretch.rate.bytesPerSecond.map {
        SizeReport.Rate(chunk: stretch.chunk, bytesPerSecond: $0)
      }
    }
    func isMeasured(_ stretch: Stretch) -> Bool {
      stretch.rate.bytes * 2 >= bounds.stretch
        || stretch.rate.count >= Self.acknowledgementsMinimum
    }
    let first = stretches[0]
    var kept = first
    guard let model = first.rate.bytesPerSecond, isMeasured(first) else {
      return Outcome(kept: kept.chunk, rates: rates, isWhole: isWhole)
    }
    for stretch in stretches.dropFirst() where isMeasured(stretch) {
      guard let rate = stretch.rate.bytesPerSecond else { continue }
      let errors = (first.rate.error * first.rate.error + stretch.rate.error * stretch.rate.error)
        .squareRoot()
      let needed = model * max(Self.advantage, 1 + errors)
      if rate > needed, rate > kept.rate.bytesPerSecond ?? 0 { kept = stretch }
    }
    return Outcome(kept: kept.chunk, rates: rates, isWhole: isWhole)
  }
}
