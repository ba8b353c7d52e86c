import OtaflashATT

/// The scan parameters of a discovery: the adapter listens for `window` in every `interval`. With a
/// short window, the radio has more time for connections, but misses advertisements; with a long
/// window, it receives most advertisements. Linux uses active scanning: it requests the scan
/// response of each device.
public struct ScanParameters: Equatable, Sendable {
  /// The range that a controller accepts (Core 5.4, Vol 4, Part E, 7.8.10).
  public static let permitted: ClosedRange<Duration> =
    .microseconds(2_500)...(.microseconds(10_240_000))

  /// The time from the start of a window to the start of the next window.
  public let interval: Duration
  /// The listening time in each interval.
  public let window: Duration

  /// Scans continuously: finds devices quickly, but slows down existing connections.
  public static let lowLatency = ScanParameters(
    unchecked: .milliseconds(100), window: .milliseconds(100))
  /// Listens for a quarter of the time.
  public static let balanced = ScanParameters(
    unchecked: .milliseconds(720), window: .milliseconds(180))
  /// Listens for a tenth of the time.
  public static let lowPower = ScanParameters(
    unchecked: .milliseconds(1_400), window: .milliseconds(140))

  /// Creates parameters; returns `nil` if a value is outside 2.5 ms...10.24 s, or the window is
  /// longer than the interval.
  ///
  /// - Parameters:
  ///   - interval: the time from the start of a window to the start of the next window, rounded to
  ///   0.625 ms.
  ///   - window: the listening time in each interval.
  public init?(interval: Duration, window: Duration) {
    guard Self.permitted.contains(interval), Self.permitted.contains(window), window <= interval
    else { return nil }
    self.init(unchecked: interval, window: window)
  }

  private init(unchecked interval: Duration, window: Duration) {
    self.interval = interval
    self.window = window
  }

  /// The entries for the adapter's default configuration.
  var parameters: [SystemParameter] {
    [
      SystemParameter(type: SystemParameter.discoveryInterval, value: Self.units(interval)),
      SystemParameter(type: SystemParameter.discoveryWindow, value: Self.units(window)),
    ]
  }

  private static func units(_ duration: Duration) -> UInt16 {
    UInt16((duration / .microseconds(625)).rounded())
  }
}

extension SystemConfiguration {
  /// The scan parameters to restore after a discovery; empty if the kernel does not report scan
  /// parameters.
  var discoveryParameters: [SystemParameter] {
    guard let discoveryInterval, let discoveryWindow else { return [] }
    return [
      SystemParameter(type: SystemParameter.discoveryInterval, value: discoveryInterval),
      SystemParameter(type: SystemParameter.discoveryWindow, value: discoveryWindow),
    ]
  }
}

extension MgmtSession {
  /// Sets the scan parameters of discoveries, and returns the previous parameters. The kernel has
  /// one setting per adapter, for all programs.
  func set(
    _ scanning: ScanParameters, adapter: UInt16
  ) async throws(MgmtFault) -> [SystemParameter] {
    let former: [SystemParameter]
    do throws(MgmtFault) {
      let answer = try await perform(.readDefaultSystemConfiguration, index: adapter)
      former = SystemConfiguration(decoding: answer)?.discoveryParameters ?? []
    } catch .refused(_, .unknownCommand) {
      former = []
    }
    guard !former.isEmpty else {
      throw .unsupported(
        cause: "This kernel does not support setting the interval and window of a discovery.",
        remedy: .advice("Scan without parameters, or use Linux 5.11 or later."))
    }
    try await perform(.setDefaultSystemConfiguration(scanning.parameters), index: adapter)
    return former
  }
}
