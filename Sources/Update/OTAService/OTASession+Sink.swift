import OtaflashFirmware
import OtaflashGATT

/// Transfers to a device's sink, which counts and checks bytes without writing flash
/// (docs/ota-service.md, 4.2, BEGIN).
extension OTASession {
  /// Opens a session for transfers to the sink.
  ///
  /// - Parameter asksForDecoder: whether to also request the capabilities of the device's patch
  ///   decoder.
  static func openForSink(
    on client: GATTClient, _ clock: any LinkClock, _ options: UpdateOptions, asksForDecoder: Bool
  ) async throws(UpdateFault) -> OTASession {
    var options = options
    options.patches.policy = asksForDecoder ? .auto : .never
    let context = UpdateContext(
      clock: clock, options: options, tally: UpdateProgressState(), observe: { _ in })
    let session = try await open(on: client, context, RetainedState())
    guard session.info.hasSink else { throw .declined(.prepare, .otaService(.wrongState)) }
    return session
  }

  /// Returns a session on the same connection with another context, and without retained state.
  func reporting(to context: UpdateContext) -> OTASession {
    OTASession(
      client: client, context: context, retained: RetainedState(), data: data, status: status,
      notifications: notifications, control: control, info: info, device: device,
      patching: patching)
  }

  /// Sends BEGIN for a sink session, which starts at 0 and does not change the held part of an
  /// image.
  func beginSink(
    _ image: PrefixChecksums, version: FirmwareVersion
  ) async throws(UpdateFault) {
    let begin = OTABegin(
      flags: [.sink, .allowDowngrade], imageSize: image.count,
      imageCRC32: image.checksum(ofFirst: image.count), version: version, hardware: info.hardware)
    let position = try await control.position(.begin(begin), .prepare)
    guard position.nextOffset == 0 else {
      throw .protocolViolation(
        .prepare, "its sink session starts at \(position.nextOffset), not at 0")
    }
  }
}
