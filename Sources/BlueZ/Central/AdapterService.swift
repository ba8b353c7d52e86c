import OtaflashGATT

/// What works on an adapter for as long as its links are used, such as a `PairingAgent` or a
/// `LinkTuner`: it prepares the adapter, listens to it, and puts it back.
public protocol AdapterService: Sendable {
  /// Prepares the adapter. Comes before the first link.
  func start() async
  /// Serves until `stop`.
  func run() async
  /// Puts the adapter back and ends `run`. It must not wait.
  func stop()
}

extension AdapterService {
  /// Starts, serves until `body` has ended, and stops. Cancelling reaches `body` alone: while it
  /// says goodbye to the device, the link must hold.
  ///
  /// Several services nest, the one that must come first outside:
  /// `tuner.serve { await agent.serve { … } }`.
  ///
  /// - Throws: what `body` throws.
  public func serve<Success: Sendable, Failure: Error>(
    while body: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    await start()
    return try await withService({ await self.run() }, stop: { self.stop() }, body)
  }
}

extension PairingAgent: AdapterService {}
extension LinkTuner: AdapterService {}
