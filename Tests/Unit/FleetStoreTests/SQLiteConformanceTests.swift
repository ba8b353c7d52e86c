#if Fleet
import Foundation
import OtaflashATT
import OtaflashFleet
import OtaflashFleetConformance
import OtaflashGATT
import OtaflashSimulation
import Testing

/// The conformance suite over a database file, to which each worker opens its own connections.
@Suite struct SQLiteConformanceTests {
  private struct Bench: ConformanceBench {
    let coordinator: any JobExchange
    let path: String
    let clock: any LinkClock
    let second = Duration.seconds(1)
    let searchDelay = SQLiteExchange.searchDelay

    func connection(of worker: FleetWorker) -> any JobExchange {
      do { return try SQLiteExchange(path: path, clock: clock) } catch {
        preconditionFailure("the file exists: \(error)")
      }
    }

    func pass(_ duration: Duration) async { await clock.pause(for: duration) }
  }

  @Test(arguments: ExchangeConformance.cases)
  func anExchangeInADatabaseConforms(_ conformance: ExchangeConformance) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "exchange-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "exchange.sqlite").path
    try VirtualTimeline().run { clock -> Result<Void, any Error> in
      do {
        let exchange = try SQLiteExchange(path: path, clock: clock, creates: true)
        try await conformance.check(Bench(coordinator: exchange, path: path, clock: clock))
        return .success(())
      } catch {
        return .failure(error)
      }
    }.get()
    try FileManager.default.removeItem(at: folder)
  }
}
#endif
