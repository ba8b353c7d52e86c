import OtaflashFleet
import OtaflashFleetConformance
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: ExchangeConformance.cases)
  func theExchangeInMemoryConforms(_ conformance: ExchangeConformance) async throws {
    try await conformance.check(MemoryExchange())
  }

  @Test func noTwoCasesHaveOneName() {
    let names = ExchangeConformance.cases.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 35)
  }
}
