import OtaflashATT

/// The requested parameters of a link; `nil` leaves a parameter unchanged.
public struct LinkTuning: Equatable, Sendable {
  /// The range of connection intervals (Core 5.4, Vol 6, Part B, 4.5.1).
  public static let intervals: ClosedRange<Duration> = .microseconds(7500)...(.seconds(4))
  /// The range of payload bytes in a link-layer packet (Core 5.4, Vol 6, Part B, 4.5.10).
  public static let payloads = 27...251

  /// The range from which the controller chooses the connection interval, in steps of 1.25 ms.
  public var interval: ClosedRange<Duration>?
  /// The number of connection events that the device may skip.
  public var latency: UInt16
  /// The time without a packet after which the link is considered lost.
  public var supervisionTimeout: Duration
  /// The PHY to request for both directions; `nil` leaves the PHY unchanged.
  public var phy: PHY?
  /// The number of payload bytes in one link-layer packet.
  public var payload: Int?

  /// Creates a request; parameters that are `nil` are left unchanged.
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

  /// The parameters for an update. The kernel's default interval of 30 to 50 ms makes an update
  /// slow, and with the kernel's default supervision timeout of 420 ms, a link is often lost if
  /// other transmitters use the channels. With a timeout of two seconds, the loss of a device that
  /// resets without disconnecting is detected soon.
  public static let flashing = LinkTuning(
    interval: .microseconds(7500)...(.milliseconds(15)), phy: .le2M, payload: 251)

  /// Returns the parameters for the kernel and the controller; `nil` if no interval is requested, a
  /// value is out of range, or the values contradict each other.
  func parameters(for device: BluetoothAddress) -> MgmtConnectionParameters? {
    guard let interval else { return nil }
    return MgmtConnectionParameters(
      device: device,
      intervalMinimum: Self.units(interval.lowerBound, of: .microseconds(1250)),
      intervalMaximum: Self.units(interval.upperBound, of: .microseconds(1250)),
      latency: latency,
      supervisionTimeout: Self.units(supervisionTimeout, of: .milliseconds(10)))
  }

  /// Whether the controller would accept the request: all values are in range, and the supervision
  /// timeout is longer than twice the time between two events to which the device responds.
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

/// One requested link parameter, and the outcome.
public struct TuningStep: Equatable, Sendable {
  /// The requested parameter.
  public enum Subject: String, Sendable, CaseIterable {
    /// The time between two connection events.
    case interval
    /// The PHY for both directions.
    case phy = "PHY"
    /// The payload of a link-layer packet in bytes.
    case payload = "packet"
  }

  /// The outcome of a request.
  public enum Outcome: Equatable, Sendable {
    /// The link uses the requested value.
    case granted
    /// The controller or the device refused; the string is the reason as a clause.
    case refused(String)
    /// This process lacks CAP_NET_RAW.
    case notPermitted
  }

  /// The requested parameter.
  public let subject: Subject
  /// The requested value with its unit: `7.5…15 ms`, `2M`, `251 B`.
  public let asked: String
  /// The outcome of the request.
  public let outcome: Outcome
  /// The current value of the link; `nil` if the value is unknown.
  public let now: String?
}
