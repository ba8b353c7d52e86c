import OtaflashBlueZ
import OtaflashGATT

/// What works on an adapter as long as its links are used: it prepares the adapter, listens to it,
/// and puts it back.
protocol AdapterService: Sendable {
  func start() async
  /// Ends by `stop`.
  func run() async
  func stop()
}

extension PairingAgent: AdapterService {}
extension LinkTuner: AdapterService {}

extension AdapterService {
  /// Serves until `body` has ended. Cancelling reaches the body alone: while it says goodbye to the
  /// device, the link must hold.
  func serve<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async -> Success {
    await start()
    return await withService({ await self.run() }, stop: { self.stop() }, body)
  }
}
