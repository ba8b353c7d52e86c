import OtaflashGATT

/// A service that runs on an adapter while its links are used, such as a `PairingAgent` or a
/// `LinkTuner`: it configures the adapter, receives its events, and restores the configuration.
public protocol AdapterService: Sendable {
  /// Configures the adapter. Called before the first link.
  func start() async
  /// Serves until `stop`.
  func run() async
  /// Restores the adapter's configuration, and ends `run`. This function must not wait.
  func stop()
}

extension AdapterService {
  /// Starts the service, serves until `body` has ended, and stops the service. Cancellation reaches
  /// only `body`, because the link must stay up for the last messages to the device.
  ///
  /// To use several services, nest the calls; the outermost service starts first:
  /// `tuner.serve { await agent.serve { … } }`.
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
