import OtaflashGATT

/// A service that runs on an adapter while its links are used, such as a `PairingAgent` or a
/// `LinkTuner`: it configures the adapter, receives its events, and restores the configuration.
public protocol AdapterService: Sendable {
  /// Configures the adapter. Called before the first link.
  func start() async
  /// Serves until `stop`.
  func run() async
  /// Restores the adapter's configuration and ends `run`. It must not wait.
  func stop()
}

extension AdapterService {
  /// Starts, serves until `body` has ended, and stops. Cancellation reaches only `body`: the link
  /// must stay up for its last messages to the device.
  ///
  /// Several services nest; the first to start is the outermost: `tuner.serve { await agent.serve {
  /// … } }`.
  ///
  /// - Throws: the error of `body`.
  public func serve<Success: Sendable, Failure: Error>(
    while body: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    await start()
    return try await withService({ await self.run() }, stop: { self.stop() }, body)
  }
}

extension PairingAgent: AdapterService {}
extension LinkTuner: AdapterService {}
