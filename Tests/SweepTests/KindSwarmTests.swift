import OtaflashSwarm
import Testing

/// Days of bad luck for devices with other protocols than the OTA service.
@Suite struct KindSwarmTests {
  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func aDayOfBadLuckEndsInTheTruth(seed: UInt64) throws {
    let scenario = try Scenario.swarmOfKinds(seed: seed)
    let found = Judgement(of: scenario).violations
    #expect(found.isEmpty, "\(scenario.profile): \(found)")
  }

  @Test func aSeedIsTheSameDayEveryTime() throws {
    for seed: UInt64 in [3, 14, 159] {
      let endings = try (0..<2).map { _ in try Scenario.swarmOfKinds(seed: seed).run() }
      #expect(endings[0].events == endings[1].events)
      #expect(endings[0].counters == endings[1].counters)
    }
  }
}
