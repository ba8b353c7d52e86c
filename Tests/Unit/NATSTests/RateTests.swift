#if Sites
import Foundation
import OtaflashNATS
import OtaflashNATSServer
import Testing

/// Rates of the calls that a campaign makes most often. The tests print the rates and have no
/// expectations about them, so they run on request only: `OTAFLASH_RATES=1`.
@Suite(
  .serialized,
  .enabled(
    if: NATSServer.areInstalled && ProcessInfo.processInfo.environment["OTAFLASH_RATES"] != nil,
    "set OTAFLASH_RATES=1 to measure"))
struct RateTests {
  static func report(
    _ version: NATSServer.Version, _ what: String, _ count: Int, _ body: () async throws -> Void
  ) async throws {
    let elapsed = try await ContinuousClock().measure { try await body() }
    let rate = Int(Double(count) / (elapsed / .seconds(1)))
    print("RATE \(version.rawValue): \(what): \(rate)/s")
  }

  static func inParallel(
    _ width: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<width { group.addTask { try await body(number) } }
      try await group.waitForAll()
    }
  }

  @Test(arguments: NATSServer.Version.allCases, ["", "sync_interval: always"])
  func rates(_ version: NATSServer.Version, _ setting: String) async throws {
    // Server 2.9 flushes once a minute, and cannot be configured.
    guard setting.isEmpty || version == .newer else { return }
    let store = setting.isEmpty ? "" : ", flushed"
    let server = try await NATSServer(version, "", [:], jetStream: setting)
    let stream = try await JetStreamTests.kitchen(server)
    let state = try await KeyValueBucket(
      KeyValueConfiguration(bucket: "STATE", history: 10), of: stream)
    try await Self.report(version, "compare-and-set, 1 writer\(store)", 2000) {
      var revision: UInt64 = 0
      for _ in 0..<2000 {
        revision = try #require(try await state.update("one", [1], expecting: revision))
      }
    }
    try await Self.report(version, "compare-and-set, 20 writers\(store)", 4000) {
      try await Self.inParallel(20) { writer in
        var revision: UInt64 = 0
        for _ in 0..<200 {
          revision = try #require(
            try await state.update("k.\(writer)", [1], expecting: revision))
        }
      }
    }
    try await Self.report(version, "direct reads, 20 readers\(store)", 4000) {
      try await Self.inParallel(20) { reader in
        for _ in 0..<200 { _ = try await state.entry("k.\(reader)") }
      }
    }
    try await Self.report(version, "jobs published, 20 publishers\(store)", 4000) {
      try await Self.inParallel(20) { site in
        for device in 0..<200 {
          try await stream.publish(JetStreamTests.job("\(device)", site: "s\(site)", "order"))
        }
      }
    }
    for site in 0..<20 {
      try await stream.createConsumer(
        ConsumerConfiguration(name: "s\(site)", filter: "flash.job.s\(site).>"), of: "FLASH")
    }
    try await Self.report(version, "fetch and ack, 20 consumers, 20 connections\(store)", 4000) {
      try await Self.inParallel(20) { site in
        let own = try await server.jetStream()
        for _ in 0..<200 {
          let job = try #require(
            try await own.fetch(from: "s\(site)", of: "FLASH", expiry: JetStreamTests.ample))
          try await job.acknowledge()
        }
      }
    }
    #expect(try await stream.stream("FLASH").content.messages == 0)
  }
}
#endif
