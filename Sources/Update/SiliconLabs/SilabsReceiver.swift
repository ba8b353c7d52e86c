import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A program that receives a GBL file: a loader, or an application that stores the file.
struct SilabsReceiver: Sendable {
  /// The time after the discovery during which some loaders refuse the start of a transfer
  /// (EFRConnect-android, `DeviceServicesActivity.kt`).
  static let settlingTime = Duration.milliseconds(200)
  /// The time between two attempts to start a transfer.
  static let retryTime = Duration.milliseconds(500)

  let context: UpdateContext
  let retained: RetainedState<SilabsRetained>
  let channel: SilabsChannel
  let party: SilabsParty
  /// The time of the end of the discovery.
  let discovered: LinkInstant

  /// The pace of the transfer. An application stores writes without interpreting them, and never
  /// reports a loss, so the host does not use the fastest pace for it.
  var pace: SilabsPace {
    let limit = context.options.windowLimit.map { max(1, $0 / chunk) } ?? .max
    guard channel.hasCommands, context.options.mode != .withResponse else { return .acknowledged }
    return SilabsPace.after(
      failures: party == .storage ? max(1, retained.value.failures) : retained.value.failures,
      limit: limit)
  }

  var chunk: Int {
    SilabsOTA.chunk(mtu: channel.client.mtu, wanted: context.options.chunk)
  }

  // MARK: The start

  /// Starts a transfer. A loader that is not ready is asked again, for a sixth of `busyLimit`.
  func begin(_ stage: UpdateStage) async throws(UpdateFault) {
    guard await context.clock.pause(until: discovered.advanced(by: Self.settlingTime)) else {
      throw .gatt(stage, .cancelled)
    }
    let deadline = context.clock.now.advanced(by: context.options.busyLimit / 6)
    while true {
      do throws(GATTFault) { return try await channel.write(.begin) } catch {
        guard case .refused(_, let code) = error, code == ATTErrorCode(0x87),
          context.clock.now < deadline
        else { throw fault(error, stage) }
      }
      try await rest(Self.retryTime, stage)
    }
  }

  /// Waits for a busy device.
  func rest(_ time: Duration, _ stage: UpdateStage) async throws(UpdateFault) {
    context.observe(.deviceBusy)
    guard await context.clock.pause(for: time) else { throw .gatt(stage, .cancelled) }
  }

  // MARK: The end

  /// Reports the end of the file. A loader answers with its verdict.
  func end() async throws(UpdateFault) {
    do throws(GATTFault) { try await channel.write(.end) } catch {
      if mayBeLoss(error) { try startSlower(.verify) }
      throw fault(error, .verify)
    }
  }

  /// Closes the connection, which makes the device start the image. The loader also receives the
  /// request to close, so that it does not depend on the disconnection of the host.
  func close() async throws(UpdateFault) {
    if party == .loader {
      let silence = GATTFault.timedOut(after: context.options.abortLimit)
      do throws(GATTFault) {
        try await withDeadline(
          context.clock.now.advanced(by: context.options.abortLimit), on: context.clock,
          orThrow: silence
        ) { () async throws(GATTFault) in try await channel.write(.close) }
      } catch .cancelled {
        throw .gatt(.activate, .cancelled)
      } catch {
        // A loader that does not know the request or has already disconnected starts the image too.
      }
    }
    retained.update { $0.closed = context.clock.now }
    channel.client.closeLink()
  }

  // MARK: Failures

  func fault(_ fault: GATTFault, _ stage: UpdateStage) -> UpdateFault {
    guard case .refused(_, let code) = fault, code.isOfApplication else {
      return .gatt(stage, fault)
    }
    return .declined(stage, .silabs(code, of: party))
  }

  /// Whether dropped writes may explain a refusal of a loader: the structure and the checksum of
  /// the file were verified on the host.
  func mayBeLoss(_ fault: GATTFault) -> Bool {
    guard party == .loader, !pace.isLossless, case .refused(_, let code) = fault else {
      return false
    }
    return (0x80...0x84).contains(code.rawValue)
  }

  /// Ends the connection, and continues with a slower transfer on the next connection.
  func startSlower(_ stage: UpdateStage) throws(UpdateFault) -> Never {
    retained.update { $0.failures += 1 }
    context.restarted(because: "it may have dropped data")
    channel.client.closeLink()
    throw .gatt(stage, .linkLost(.closedLocally))
  }
}
