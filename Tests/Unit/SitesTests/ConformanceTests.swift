#if Sites
import OtaflashFleetConformance
import OtaflashNATSServer
import Testing

/// The conformance suite over JetStream.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)"))
struct ConformanceTests {
  private static func check(_ conformance: ExchangeConformance) async throws {
    let bench = try await JetStreamBench(try SharedServer.account())
    let result: Result<Void, any Error>
    do { result = .success(try await conformance.check(bench)) } catch {
      result = .failure(error)
    }
    await bench.end()
    try result.get()
  }

  @Suite(SharedServer(version: .debian), .serialized) struct DebianTests {
    @Test(arguments: ExchangeConformance.cases)
    func theExchangeConforms(_ conformance: ExchangeConformance) async throws {
      try await ConformanceTests.check(conformance)
    }
  }

  @Suite(SharedServer(version: .newer), .serialized) struct NewerTests {
    @Test(arguments: ExchangeConformance.cases)
    func theExchangeConforms(_ conformance: ExchangeConformance) async throws {
      try await ConformanceTests.check(conformance)
    }
  }
}
#endif
