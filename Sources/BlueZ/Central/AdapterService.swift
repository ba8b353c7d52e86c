import OtaflashGATT

/// A service that runs on an adapter while the links of the adapter are used, such as a
/// `PairingAgent` or a `LinkTuner`. A service configures the adapter, receives its events, and
/// restores the configuration.
public protocol AdapterService: Sendable {
  /// Configures the adapter. Called before the first link.
  func start() async
  /// Serves the links until `stop` is called.
  func run() async
  /// Restores the adapter's configuration, and ends `run`. This function must not wait.
  func stop()
}

extension AdapterService {
  /// Starts the service, serves until `body` has ended, and stops the service. Cancellation affects
  /// only `body`, because the link must remain usable for the last messages to the device.
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
