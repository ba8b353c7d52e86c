import OtaflashUpdate

/// The limits and delays of repeated attempts.
public struct RetryPolicy: Hashable, Sendable {
  /// The range of `linkAttempts` and `infrastructureFailures`.
  package static let attempts = 1...1000
  /// The range of `sameFailures`.
  package static let repeats = 1...100

  /// The permitted number of attempts on one device that lose the link or do not find the device.
  public var linkAttempts: Int
  /// The number of equal failures after which a device is quarantined.
  public var sameFailures: Int
  /// The wait before the second attempt; each further wait is twice as long.
  public var firstDelay: Duration
  /// The maximum wait.
  public var longestDelay: Duration
  /// The maximum share by which a wait is randomly shortened, 0…1.
  public var jitter: Double
  /// The number of consecutive attempts, on any devices, that fail on the host, after which the run
  /// pauses.
  public var infrastructureFailures: Int

  /// Creates a policy.
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

  /// Returns the wait after failure `count` (1, 2, …) of a device.
  ///
  /// - Parameter random: 0 ..< 1.
  package func delay(afterFailure count: Int, random: Double) -> Duration {
    // 2^30 × any first delay exceeds every maximum; a larger shift would overflow.
    let whole = min(firstDelay * (1 << min(max(count - 1, 0), 30)), longestDelay)
    return whole * (1 - jitter * random)
  }
}

/// The options of the updates of a campaign.
public struct FlashChoices: Hashable, Sendable {
  /// The range of `mtu`.
  package static let mtus = 23...517

  /// The way in which data is written.
  public var writing = WriteMode.auto
  /// Whether devices receive patches.
  public var delta = DeltaPolicy.auto
  /// The requested ATT_MTU, 23…517 bytes.
  public var mtu = 512
  /// Whether to send an image with an older version than the running image.
  public var allowDowngrade = false
  /// Whether to send an image whose version or hardware is unknown.
  public var allowUnknown = false
  /// Whether to send an image for other hardware.
  public var allowOtherHardware = false
  /// Whether to send the image even if the device already runs it.
  public var force = false
  /// The time limit of one attempt.
  public var attemptLimit = Duration.seconds(1800)

  /// Creates the default options.
  public init() {}
}

extension UpdateOptions {
  /// Creates the options of an update from the choices of a campaign.
  package init(_ choices: FlashChoices, key: [UInt8]?, bases: BaseFinder) {
    self.init()
    mode = choices.writing
    patches.policy = choices.delta
    mtu = choices.mtu
    allowsDowngrade = choices.allowDowngrade
    allowsUnknown = choices.allowUnknown
    allowsOtherHardware = choices.allowOtherHardware
    sendsAnyway = choices.force
    self.key = key
    patches.bases = bases
  }
}

/// The form in which a job carries the options to its worker.
extension FlashChoices: Codable {
  private enum CodingKeys: String, CodingKey {
    case writing, delta, mtu, allowDowngrade, allowUnknown, allowOtherHardware, force
    case attemptMilliseconds
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func choice<Choice: RawRepresentable<String>>(_ key: CodingKeys) throws -> Choice {
      guard let choice = Choice(rawValue: try values.decode(String.self, forKey: key)) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: values, debugDescription: "the value is unknown")
      }
      return choice
    }
    self.init()
    writing = try choice(.writing)
    delta = try choice(.delta)
    mtu = try values.decode(Int.self, forKey: .mtu)
    allowDowngrade = try values.decode(Bool.self, forKey: .allowDowngrade)
    allowUnknown = try values.decode(Bool.self, forKey: .allowUnknown)
    allowOtherHardware = try values.decode(Bool.self, forKey: .allowOtherHardware)
    force = try values.decode(Bool.self, forKey: .force)
    attemptLimit = .milliseconds(try values.decode(Int64.self, forKey: .attemptMilliseconds))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(writing.rawValue, forKey: .writing)
    try values.encode(delta.rawValue, forKey: .delta)
    try values.encode(mtu, forKey: .mtu)
    try values.encode(allowDowngrade, forKey: .allowDowngrade)
    try values.encode(allowUnknown, forKey: .allowUnknown)
    try values.encode(allowOtherHardware, forKey: .allowOtherHardware)
    try values.encode(force, forKey: .force)
    try values.encode(attemptLimit.wholeMilliseconds, forKey: .attemptMilliseconds)
  }
}
