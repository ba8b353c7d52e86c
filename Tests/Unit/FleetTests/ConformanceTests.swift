import OtaflashATT
import OtaflashFleet
import OtaflashFleetConformance
import OtaflashGATT
import OtaflashSimulation
import Testing

@Suite struct ConformanceTests {
  private struct Bench: ConformanceBench {
    let coordinator: any JobExchange
    let clock: any LinkClock
    let second = Duration.seconds(1)
    let searchDelay = 10

    func connection(of worker: FleetWorker) -> any JobExchange { coordinator }

    func pass(_ duration: Duration) async { await clock.pause(for: duration) }
  }

  @Test(arguments: ExchangeConformance.cases)
  func theExchangeInMemoryConforms(_ conformance: ExchangeConformance) throws {
    try VirtualTimeline().run { clock -> Result<Void, any Error> in
      let exchange = MemoryExchange(clock: clock, outlivesCoordinator: true)
      do {
        try await conformance.check(Bench(coordinator: exchange, clock: clock))
        return .success(())
      } catch {
        return .failure(error)
      }
    }.get()
  }

  @Test func caseNamesAreUnique() {
    let names = ExchangeConformance.cases.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 80)
  }

  /// A table with a run of many attempts keeps one job for each device. After `forget`, the table
  /// keeps no job of the run.
  @Test func jobsOfEarlierAttemptsAreRemoved() throws {
    var table = JobTable()
    for attempt in 1...50 {
      for device in ["a", "b"] {
        let id = UpdateJob.ID(run: "r", device: device, attempt: attempt)
        try table.publish(UpdateJob(id: id, image: "i"))
        let worker = FleetWorker(name: "w")
        let claim = table.claim(for: worker, now: .zero, lease: .seconds(45))
        try table.finish(try #require(claim), .returned(.stopping), now: .zero)
      }
    }
    #expect(table.count == 2)
    table.forget("r")
    #expect(table.count == 0 && table.facts(of: "r").isEmpty)
  }
}
