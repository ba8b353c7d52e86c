import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Synchronization

/// Measures the rate of a link by transfers to the device's sink, which counts and checks bytes
/// without writing flash (docs/ota-service.md, 4.2, BEGIN).
public struct LinkBenchmark: Sendable {
  /// The parameters of a measurement.
  public struct Setting: Hashable, Sendable {
    /// The write mode.
    public var mode = WriteMode.withResponse
    /// The ATT_MTU to request, 23…517 bytes.
    public var mtu = 512
    /// The maximum number of unacknowledged bytes; `nil` = as many as the device permits.
    public var window: Int?
    /// The number of bytes per transfer, 1 or more, limited to the size of the device's slot. `nil`
    /// = 64 KiB. In a mode other than `.withResponse`, this size is then doubled until the rate
    /// changes by less than 1 %, the slot is full, or a transfer would take more than 20 s.
    public var size: Int?
    /// The number of transfers on one connection, 1 or more.
    public var repeats = 1
    /// The number of data bytes in one write; `nil` = the fastest size for the mode.
    package var chunk: Int?
    /// Whether to ask the device for the abilities of its decoder, which a prediction needs.
    package var asksForDecoder = false

    /// Creates a setting with the mode "with response" and a window as large as the device permits.
    public init() {}
  }

  /// The measurement of one transfer.
  public struct Measurement: Equatable, Sendable {
    /// The state of the link during the measurement.
    public let link: LinkReport
    /// The device's report of its receiver.
    package let receiver: ReceiverFacts
    /// The number of image bytes per data write.
    public let chunk: Int
    /// The number of bytes that the device acknowledged.
    public let bytes: Int
    /// The number of data bytes sent, repeats included.
    public let bytesSent: Int
    /// The time from the first data write to the Status that acknowledges the last byte.
    public let took: Duration
    /// The number of times that the host sent again from an earlier offset (`RewindReason`).
    public let rewinds: Int
    /// The number of times that the device reported that it temporarily accepts no data.
    public let busySigns: Int
    /// The waits of the sender.
    public let waits: TransferWaits
    /// Whether a larger transfer would have the same rate; `nil` if the setting fixes the size.
    public fileprivate(set) var hasSettled: Bool?

    /// The size in bytes of the ATT PDU of one data write.
    public var pduSize: Int { chunk + OTAService.dataHeaderSize + 3 }
    /// The rate in acknowledged bytes per second.
    public var bytesPerSecond: Double {
      let seconds: Double = took / .seconds(1)
      return Double(bytes) / seconds
    }
  }

  /// The announced version. A sink ignores this version, and no rule refuses it.
  private static let version = FirmwareVersion(255, 255, 65535)

  /// The parameters.
  public let setting: Setting
  /// The device's key, if the device requires one.
  public let key: [UInt8]?
  private let observeRoundTrip: @Sendable (Duration) -> Void

  /// Creates a benchmark.
  ///
  /// - Parameters:
  ///   - setting: the parameters.
  ///   - key: the device's key, if the device requires one.
  ///   - observeRoundTrip: receives the time from each Write Request to its response.
  public init(
    setting: Setting, key: [UInt8]? = nil,
    observeRoundTrip: @escaping @Sendable (Duration) -> Void = { _ in }
  ) {
    precondition(setting.repeats >= 1 && setting.size ?? 1 >= 1 && setting.window ?? 1 >= 1)
    self.setting = setting
    self.key = key
    self.observeRoundTrip = observeRoundTrip
  }

  /// The benchmark as a command for a peripheral's queue. The command returns the measurements in
  /// chronological order.
  ///
  /// The command fails with `.declined(.prepare, .otaService(.wrongState))` if the device has no
  /// sink, and with `.authorizationRequired` if the device requires a key and no key was specified.
  /// A lost link ends the benchmark.
  public var command: Command<PeripheralTurn, [Measurement], UpdateFault> {
    Command("benchmark") { (turn) async throws(UpdateFault) -> [Measurement] in
      defer { turn.disconnect() }
      let client = try await turn.connect(requestingMTU: setting.mtu)
      return try await measure(client, on: turn.clock)
    }
  }

  /// Runs the benchmark over a new link.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> [Measurement] {
    try await command.run(on: dialer, clock: clock)
  }

  private func measure(
    _ client: GATTClient, on clock: any LinkClock
  ) async throws(UpdateFault) -> [Measurement] {
    var options = UpdateOptions()
    options.mode = setting.mode
    options.windowLimit = setting.window
    options.chunk = setting.chunk
    let session = try await OTASession.openForSink(
      on: client, clock, options, asksForDecoder: setting.asksForDecoder)
    if session.info.needsAuthorization {
      guard let key else { throw .authorizationRequired }
      try await session.authorize(with: key)
    }
    let (size, hasSettled) = try await settledSize(over: session, options)
    let image = PrefixChecksums(Self.pattern(size))
    var measurements: [Measurement] = []
    for _ in 0..<setting.repeats {
      var measurement = try await transfer(image, over: session, options)
      measurement.hasSettled = hasSettled
      measurements.append(measurement)
    }
    return measurements
  }

  /// Returns the number of bytes per transfer, and whether the rate has settled at this size; `nil`
  /// if the setting fixes the size.
  private func settledSize(
    over session: OTASession, _ options: UpdateOptions
  ) async throws(UpdateFault) -> (Int, Bool?) {
    let slotSize = session.info.slotSize
    if let size = setting.size { return (min(size, slotSize), nil) }
    let chunk = session.path.chunkSize
    var settling = RateSettling(setting.mode, chunk: chunk, slotSize: slotSize)
    while settling.isSearching {
      let image = PrefixChecksums(Self.pattern(settling.size))
      let found = try await transfer(image, over: session, options)
      settling.take(found.bytesPerSecond, took: found.took)
    }
    return (settling.size, settling.isSettled)
  }

  private func transfer(
    _ image: PrefixChecksums, over opened: OTASession, _ options: UpdateOptions
  ) async throws(UpdateFault) -> Measurement {
    let flow = FlowCounts()
    let meter = TransferMeter(roundTrip: observeRoundTrip)
    let context = UpdateContext(
      clock: opened.context.clock, options: options, tally: UpdateProgressState(),
      meter: meter, observe: flow.observe)
    let session = opened.reporting(to: context)
    try await session.beginSink(image, version: Self.version)
    try await session.send(.image(image), from: 0)
    let end = context.clock.now
    guard let start = meter.firstWrite else { preconditionFailure("nothing was written") }
    try await session.abandon()
    return Measurement(
      link: LinkReport(of: session.client), receiver: ReceiverFacts(session),
      chunk: session.path.chunkSize, bytes: image.count,
      bytesSent: context.tally.now.bytesSent, took: start.duration(to: end),
      rewinds: flow.rewinds,
      busySigns: flow.busySigns, waits: meter.waits)
  }

  /// Returns bytes that do not repeat with the period of a write or a page.
  private static func pattern(_ size: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      for index in 0..<size {
        let mixed = UInt32(truncatingIfNeeded: index) &* 2_654_435_761
        buffer[index] = UInt8(truncatingIfNeeded: mixed >> 24)
      }
      count = size
    }
  }
}

/// Counts the flow events of an upload.
private final class FlowCounts: Sendable {
  private let counts = Mutex((rewinds: 0, busySigns: 0))

  var rewinds: Int { counts.withLock { $0.rewinds } }
  var busySigns: Int { counts.withLock { $0.busySigns } }

  @Sendable func observe(_ event: UpdateEvent) {
    switch event {
    case .rewound: counts.withLock { $0.rewinds += 1 }
    case .deviceBusy: counts.withLock { $0.busySigns += 1 }
    case .connecting, .connected, .device, .stageBegan, .stageEnded, .transferBegan, .progress,
      .linkLost, .restarted, .finished, .part, .delivery,
      .deliveryGivenUp, .creatingContent, .flowing:
      break
    }
  }
}
