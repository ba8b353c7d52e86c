import OtaflashATT

/// What a link shall be like; `nil` = as it comes.
public struct LinkTuning: Equatable, Sendable {
  /// Core 5.4, Vol 6, Part B, 4.5.1.
  public static let intervals: ClosedRange<Duration> = .microseconds(7500)...(.seconds(4))
  /// Bytes that a link-layer packet may carry (Core 5.4, Vol 6, Part B, 4.5.10).
  public static let payloads = 27...251

  /// The controller chooses within it, in steps of 1.25 ms.
  public var interval: ClosedRange<Duration>?
  /// Connection events that the device may skip.
  public var latency: UInt16
  /// How long the device may be silent before it counts as gone.
  public var supervisionTimeout: Duration
  /// The PHY to ask for in both directions; `nil` leaves it.
  public var phy: PHY?
  /// Bytes of payload in one link-layer packet.
  public var payload: Int?

  /// What is `nil` is left as it is.
  public init(
    interval: ClosedRange<Duration>? = nil, latency: UInt16 = 0,
    supervisionTimeout: Duration = .seconds(2), phy: PHY? = nil, payload: Int? = nil
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.phy = phy
    self.payload = payload
  }

  /// For an update: the kernel's own 30 to 50 ms and 420 ms would make it slow, and lose it in busy
  /// air. Two seconds are also how long a device that resets without a word is waited for.
  public static let flashing = LinkTuning(
    interval: .microseconds(7500)...(.milliseconds(15)), phy: .le2M, payload: 251)

  /// For the kernel and the controller; `nil` when nothing is asked, or what is asked contradicts
  /// itself.
  func parameters(for device: BluetoothAddress) -> MgmtConnectionParameters? {
    guard let interval else { return nil }
    return MgmtConnectionParameters(
      device: device,
      intervalMinimum: Self.units(interval.lowerBound, of: .microseconds(1250)),
      intervalMaximum: Self.units(interval.upperBound, of: .microseconds(1250)),
      latency: latency,
      supervisionTimeout: Self.units(supervisionTimeout, of: .milliseconds(10)))
  }

  /// Whether the controller would take it: in range, and the supervision timeout longer than twice
  /// the time between two events that the device answers.
  public var isPossible: Bool {
    let anybody = BluetoothAddress(checked: [0, 0, 0, 0, 0, 0], kind: .publicDevice)
    if let interval {
      guard parameters(for: anybody) != nil,
        supervisionTimeout > interval.upperBound * 2 * (1 + Int(latency))
      else { return false }
    }
    return payload.map(Self.payloads.contains) ?? true
  }

  private static func units(_ duration: Duration, of unit: Duration) -> UInt16 {
    UInt16(clamping: Int((duration / unit).rounded()))
  }
}

/// One thing that was asked of a link, and what became of it.
public struct TuningStep: Equatable, Sendable {
  /// What was asked for.
  public enum Subject: String, Sendable, CaseIterable {
    /// The time between two connection events.
    case interval
    /// The PHY of both directions.
    case phy = "PHY"
    /// The bytes of a link-layer packet.
    case payload = "packet"
  }

  /// What came of it.
  public enum Outcome: Equatable, Sendable {
    /// The link has it now.
    case granted
    /// The controller or the device said no; the clause says why.
    case refused(String)
    /// This process lacks CAP_NET_RAW.
    case notPermitted
  }

  /// What was asked for.
  public let subject: Subject
  /// With its unit: `7.5…15 ms`, `2M`, `251 B`.
  public let asked: String
  /// What came of it.
  public let outcome: Outcome
  /// What the link has; `nil` when nobody said.
  public let now: String?
}
