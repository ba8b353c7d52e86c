#if Sites
import OtaflashFleet
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// The work of a gateway with exactly the permissions of the generated configuration.
@Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct GatewayAccountTests {
  let folders = TemporaryFolders()

  @Test(arguments: NATSServer.Version.allCases)
  func aJobIsDone(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make(), isFilled: false)
    let clock = SystemClock()
    let leader = try SiteCoordinator(
      deployment.coordinator, clock: clock, elapsed: { clock.now.elapsed })
    let coordinator = try JetStreamExchange(
      deployment.coordinator, clock: clock, coordinator: leader)
    let gateway = try JetStreamExchange(
      try await deployment.connect(deployment.stolen), clock: clock)
    let worker = FleetWorker(name: "one", site: "kitchen")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await leader.serve() }
      try await coordinator.open("r1")
      let id = UpdateJob.ID(run: "r1", device: "C0:FF:EE:00:00:01", attempt: 1)
      try await coordinator.publish(UpdateJob(id: id, site: "kitchen", image: "abc"))
      let claim = try #require(
        try await gateway.claim(
          for: worker, lease: .seconds(45), waitingUpTo: .seconds(60)))
      #expect(claim.job.id == id)
      #expect(try await gateway.renew(claim, lease: .seconds(45)) == .held)
      try await gateway.report(claim, .deviceActivating(device: id.device, attempt: 1))
      gateway.progress(claim, JobProgress(job: id, bytes: 1, total: 2))
      try await gateway.finish(claim, .current(version: nil))
      await coordinator.arrival(of: "r1", after: 0)
      var last = 0
      while true {
        let facts = try await coordinator.facts(of: "r1", after: last, limit: 10)
        if facts.contains(where: { fact in
          if case .attemptEnded = fact.event { true } else { false }
        }) {
          break
        }
        if let fact = facts.last { last = fact.number }
        await coordinator.arrival(of: "r1", after: last)
      }
      #expect(try await gateway.claims(of: worker) == [])
      group.cancelAll()
    }
  }

  /// Tests of the buckets that jobs do not use: images and presence.
  @Test(arguments: NATSServer.Version.allCases)
  func imagesAndReportsArrive(_ version: NATSServer.Version) async throws {
    let deployment = try await Deployment(version, folders.make())
    let gateway = try await deployment.connect(deployment.stolen)
    let bytes = ImageTests.image(20)
    let digest = try await ImageUpload(try deployment.bucket(SiteLayout.images)).store(bytes).digest
    let cache = try ImageTests.cache(
      try KeyValueBucket(SiteLayout.images, of: gateway), folders.make())
    #expect(try await cache.acquire(digest) == bytes)
    let reporter = PresenceReporter(
      try KeyValueBucket(SiteLayout.presence, of: gateway), site: "kitchen", gateway: "one",
      clock: SystemClock())
    try await reporter.send(PresenceTests.report)
    var roster = GatewayRoster()
    try await roster.update(from: try deployment.bucket(SiteLayout.presence), at: .zero)
    #expect(roster.gateways(at: .zero).contains { $0.report == PresenceTests.report })
    try await reporter.end()
    let forged = PresenceReporter(
      try KeyValueBucket(SiteLayout.presence, of: gateway), site: "kitchen", gateway: "two",
      clock: SystemClock())
    await #expect(throws: NATSFault.notPermitted("$KV.PRESENCE.kitchen.two")) {
      try await forged.run { PresenceTests.report }
    }
  }
}
#endif
