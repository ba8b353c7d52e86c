import OtaflashFirmware
import OtaflashGATT

/// What every step of a protocol may use: the clock, the caller's options, and where to report.
public struct UpdateContext: Sendable {
  /// The one source of time; a session waits on no other.
  public let clock: any LinkClock
  /// What the caller asked for.
  public let options: UpdateOptions
  let tally: UpdateProgressState
  /// Tells the caller what happens. The life cycle reports connections, stages and beginnings; a
  /// session reports `.deviceBusy` and `.rewound`, and its progress by `acknowledged`.
  public let observe: @Sendable (UpdateEvent) -> Void
  /// All images, where there are several; two may have one name.
  var parts: [FirmwareImage] = []
  /// Where the device of this connection was found.
  public internal(set) var place = DeviceLocation.home
  /// What uploads waited for, over all connections.
  var meter: TransferMeter?

  init(
    clock: any LinkClock, options: UpdateOptions, tally: UpdateProgressState,
    meter: TransferMeter? = nil, observe: @escaping @Sendable (UpdateEvent) -> Void
  ) {
    self.clock = clock
    self.options = options
    self.tally = tally
    self.meter = meter
    self.observe = observe
  }

  /// 0 ..< 1, drawn as the options say.
  public func randomFraction() -> Double { options.random?() ?? clock.randomFraction() }

  /// The images were activated: whoever answers from now on may be the new application.
  public var hasActivated: Bool { tally.hasActivated }

  /// The device has acknowledged the first `offset` bytes of the image that is sent, or as much as
  /// it makes them of. Counts, and tells the caller where that is new.
  public func acknowledged(_ offset: Int, of total: Int) {
    acknowledged(offset, of: total, held: offset)
  }

  /// - Parameter held: of these, the bytes that the device has of the image for certain.
  func acknowledged(_ offset: Int, of total: Int, held: Int) {
    guard tally.now.acknowledged != offset else { return }
    tally.acknowledge(offset, held: held)
    if let stretch = meter?.takeStretch(sent: tally.now.bytesSent, at: clock.now) {
      observe(.flowing(stretch))
    }
    observe(.progress(acknowledged: offset, total: total))
  }

  /// Measures where the time of an upload goes.
  func measuring<Value>(
    _ mode: WriteMode, over client: GATTClient,
    _ upload: () async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    guard let meter else { return try await upload() }
    meter.beginUpload(mode, over: client, sent: tally.now.bytesSent, at: clock.now)
    defer { if let flow = meter.endUpload() { tally.flowed(flow) } }
    return try await upload()
  }

  /// Measures a wait of an upload.
  func waiting<Value>(
    for cause: TransferMeter.Cause, _ wait: () async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    guard let meter else { return try await wait() }
    let began = meter.begin(clock)
    defer { meter.waited(began, for: cause) }
    return try await wait()
  }

  /// Something may be sent instead of the image, and this is what it came to.
  func deliver(_ report: DeliveryReport) {
    tally.deliver(report)
    observe(.delivery(report))
  }

  /// So many bytes were sent, of the image or what is sent instead, repeats included.
  public func sent(_ bytes: Int) { tally.send(bytes) }

  /// The session has restarted the device, because its transfer can only begin anew: the loss of
  /// the link that follows is none.
  ///
  /// - Parameter reason: a clause, such as `it had dropped packets`.
  public func restarted(because reason: String) { tally.restarted(because: reason) }
}
