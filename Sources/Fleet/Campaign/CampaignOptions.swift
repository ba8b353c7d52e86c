import OtaflashUpdate

/// How devices are tried, again and again, within bounds.
public struct RetryPolicy: Hashable, Sendable {
  /// The range of `linkAttempts` and `infrastructureFailures`.
  package static let attempts = 1...1000
  /// The range of `sameFailures`.
  package static let repeats = 1...100

  /// Attempts of one device that may end by a lost link, or by its not being found.
  public var linkAttempts: Int
  /// A device that fails in the same way so often is quarantined.
  public var sameFailures: Int
  /// The wait before the second attempt; each further one is twice as long.
  public var firstDelay: Duration
  /// No wait is longer.
  public var longestDelay: Duration
  /// 0…1: the largest part by which chance shortens a wait.
  public var jitter: Double
  /// Attempts in a row, of any devices, that may fail for a reason of our own machine before the
  /// run pauses.
  public var infrastructureFailures: Int

  public init(
    linkAttempts: Int = 5, sameFailures: Int = 2, firstDelay: Duration = .seconds(5),
    longestDelay: Duration = .seconds(600), jitter: Double = 0.3, infrastructureFailures: Int = 20
  ) {
    self.linkAttempts = linkAttempts
    self.sameFailures = sameFailures
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
    self.jitter = jitter
    self.infrastructureFailures = infrastructureFailures
  }

  /// The wait after failure `count` (1, 2, …) of a device.
  ///
  /// - Parameter random: 0 ..< 1.
  package func delay(afterFailure count: Int, random: Double) -> Duration {
    // 2^30 × any first delay is beyond every ceiling; a larger shift would overflow.
    let whole = min(firstDelay * (1 << min(max(count - 1, 0), 30)), longestDelay)
    return whole * (1 - jitter * random)
  }
}

/// How each of the campaign's devices is flashed: the options of one update.
public struct FlashChoices: Hashable, Sendable {
  /// The range of `mtu`.
  package static let mtus = 23...517

  public var writing = WriteMode.auto
  public var delta = DeltaPolicy.auto
  /// ATT_MTU to ask for, 23…517 bytes.
  public var mtu = 512
  public var allowDowngrade = false
  public var allowUnknown = false
  public var allowOtherHardware = false
  /// Send even where the image runs already.
  public var force = false
  /// The longest time for one attempt.
  public var attemptLimit = Duration.seconds(1800)

  public init() {}
}

extension UpdateOptions {
  /// What a campaign chooses for each of its devices.
  package init(_ choices: FlashChoices, key: [UInt8]?, bases: BaseFinder) {
    self.init()
    mode = choices.writing
    delta = choices.delta
    mtu = choices.mtu
    allowsDowngrade = choices.allowDowngrade
    allowsUnknown = choices.allowUnknown
    allowsOtherHardware = choices.allowOtherHardware
    sendsAnyway = choices.force
    self.key = key
    self.bases = bases
  }
}
