#if Sites
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// The streams of a deployment, on both versions of the server.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct SiteStreamsTests {
  @Test(arguments: NATSServer.Version.allCases)
  func theyAreCreatedOnceAndUpdated(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    for _ in 0..<2 {
      try await SiteStreams.create(on: stream)
      try await SiteStreams.createConsumers(of: ["kitchen", "Küche 2", nil], on: stream)
    }
    #expect(try await stream.stream("FLASH").configuration == SiteStreams.offers())
    #expect(try await stream.stream("FLASH").content.consumers == 3)
    for bucket in SiteStreams.buckets() {
      #expect(try await stream.stream("KV_\(bucket.bucket)").configuration == bucket.stream)
      #expect(!bucket.stream.allowsRollup && bucket.history == 1)
    }
    #expect(try await stream.consumer("=", of: "FLASH").configuration.filter == "flash.job.=.>")
    #expect(
      try await stream.consumer("kitchen", of: "FLASH").configuration
        == SiteStreams.consumer(ofSite: "kitchen"))
  }

  @Test(arguments: NATSServer.Version.allCases)
  func aDeviceHasOneOffer(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    try await SiteStreams.create(on: stream)
    let offer = NATSMessage(
      subject: SiteLayout.offer(SiteLayout.key(site: "kitchen", device: "a")), payload: [1])
    try await stream.publish(offer)
    let fault = await #expect(throws: NATSFault.self) { try await stream.publish(offer) }
    guard case .refused(let refusal) = fault else { throw fault ?? .closed }
    #expect(refusal.number == JetStreamRefusal.notStored)
  }

  /// A bucket of an earlier deployment, which permits roll-ups, is changed so that it refuses them.
  @Test(arguments: NATSServer.Version.allCases)
  func aRollUpIsRefused(_ version: NATSServer.Version) async throws {
    let server = try await NATSServer(version)
    let stream = try await server.jetStream()
    let old = KeyValueConfiguration(bucket: "STATE", allowsRollup: true)
    let state = try await KeyValueBucket(old, of: stream)
    try await SiteStreams.create(on: stream)
    try await state.put("hall.a", [1])
    for scope in ["all", "sub"] {
      let message = NATSMessage(
        subject: "$KV.STATE.kitchen.a", headers: ["Nats-Rollup": scope], payload: [2])
      await #expect(throws: NATSFault.self) { try await stream.publish(message) }
    }
    #expect(try await state.entries().map(\.key) == ["hall.a"])
  }
}
#endif
