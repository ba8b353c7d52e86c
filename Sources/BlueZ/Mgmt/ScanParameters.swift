import OtaflashATT

/// How a discovery listens: for `window` in every `interval`. A short window misses advertisements
/// and leaves the radio to connections; a long one hears most of them. Linux's discovery is active:
/// it requests the scan response of each device.
public struct ScanParameters: Equatable, Sendable {
  /// What a controller takes (Core 5.4, Vol 4, Part E, 7.8.10).
  public static let permitted: ClosedRange<Duration> =
    .microseconds(2_500)...(.microseconds(10_240_000))

  /// From the beginning of a window to that of the next.
  public let interval: Duration
  /// How long is listened in each interval.
  public let window: Duration

  /// Finds devices soon, at the cost of connections that stand.
  public static let lowLatency = ScanParameters(
    unchecked: .milliseconds(100), window: .milliseconds(100))
  /// A quarter of the time.
  public static let balanced = ScanParameters(
    unchecked: .milliseconds(720), window: .milliseconds(180))
  /// A tenth of the time.
  public static let lowPower = ScanParameters(
    unchecked: .milliseconds(1_400), window: .milliseconds(140))

  /// `nil` where one is outside 2.5 ms...10.24 s, or the window is longer than the interval.
  ///
  /// - Parameters:
  ///   - interval: from the beginning of a window to that of the next, rounded to 0.625 ms.
  ///   - window: how long is listened in each.
  public init?(interval: Duration, window: Duration) {
    guard Self.permitted.contains(interval), Self.permitted.contains(window), window <= interval
    else { return nil }
    self.init(unchecked: interval, window: window)
  }

  private init(unchecked interval: Duration, window: Duration) {
    self.interval = interval
    self.window = window
  }

  /// For the adapter's defaults.
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
  /// The values to put back after a discovery; empty in a kernel that has none.
  var discoveryParameters: [SystemParameter] {
    guard let discoveryInterval, let discoveryWindow else { return [] }
    return [
      SystemParameter(type: SystemParameter.discoveryInterval, value: discoveryInterval),
      SystemParameter(type: SystemParameter.discoveryWindow, value: discoveryWindow),
    ]
  }
}

extension MgmtSession {
  /// Sets how discoveries listen, and returns what it was before. The kernel keeps one setting for
  /// an adapter, whoever scans.
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
        cause: "This kernel does not let the discovery's interval and window be set.",
        remedy: .advice("Scan without parameters, or use Linux 5.11 or later."))
    }
    try await perform(.setDefaultSystemConfiguration(scanning.parameters), index: adapter)
    return former
  }
}
