import OtaflashFirmware
import OtaflashGATT

/// The environment of every step of a protocol: the clock, the caller's options, and the observer.
public struct UpdateContext: Sendable {
  /// The only source of time for sessions.
  public let clock: any LinkClock
  /// The caller's options.
  public let options: UpdateOptions
  let tally: UpdateProgressState
  /// Reports events to the caller. The life cycle reports connections, stages and starts of
  /// transfers; a session reports `.deviceBusy` and `.rewound`, and its progress by `acknowledged`.
  public let observe: @Sendable (UpdateEvent) -> Void
  /// The images of the update, if the update has several images; two images may have the same name.
  var parts: [FirmwareImage] = []
  /// The location where this connection found the device.
  public internal(set) var place = DeviceLocation.home
  /// The other protocol that the device offers, if this session may leave the update to it.
  var alternative: UpdateProtocol?
  /// Measures the waits of uploads over all connections; `nil` if no measurement is needed.
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

  /// Returns a random value in 0 ..< 1, from the source in the options or, without such a source,
  /// from the clock.
  public func randomFraction() -> Double { options.random?() ?? clock.randomFraction() }

  /// Whether the activation of the images was requested, so that the next device that answers may
  /// run the new application.
  public var hasActivated: Bool { tally.hasActivated }

  /// Records that the device has acknowledged the first `offset` bytes of the image, or the
  /// corresponding part of a stream. Reports each changed offset to the caller.
  public func acknowledged(_ offset: Int, of total: Int) {
    acknowledged(offset, of: total, held: offset)
  }

  /// Records acknowledged bytes, as `acknowledged(_:of:)` does.
  ///
  /// - Parameter held: the number of these bytes that the device certainly holds.
  func acknowledged(_ offset: Int, of total: Int, held: Int) {
    guard tally.now.acknowledged != offset else { return }
    tally.acknowledge(offset, held: held)
    if let stretch = meter?.takeStretch(sent: tally.now.bytesSent, at: clock.now) {
      observe(.flowing(stretch))
    }
    observe(.progress(acknowledged: offset, total: total))
  }

  /// Measures how the time of an upload is spent.
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

  /// Reports the content that is sent, and the reason for its selection.
  public func deliver(_ report: DeliveryReport) {
    tally.deliver(report)
    observe(.delivery(report))
  }

  /// Counts the sent bytes of the image, or of the stream that replaces the image, including
  /// repeated bytes.
  public func sent(_ bytes: Int) { tally.send(bytes) }

  /// Records that the session restarted the device because the transfer must start over. The
  /// resulting end of the link is reported as `.restarted` instead of `.linkLost`.
  ///
  /// - Parameter reason: a clause, such as `it had dropped packets`.
  public func restarted(because reason: String) { tally.restarted(because: reason) }
}
