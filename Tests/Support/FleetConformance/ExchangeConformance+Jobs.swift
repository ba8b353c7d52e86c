import OtaflashFleet

extension ExchangeConformance {
  static let publication = [
    ExchangeConformance("an empty exchange has no job") { bench in
      try await bench.expectNoJob("there is no job to claim")
    },
    ExchangeConformance("jobs are claimed in the order of their publication") { bench in
      try await bench.publish(bench.job("c"), bench.job("a"), bench.job("b"))
      for device in ["c", "a", "b"] {
        let claim = try await bench.claim()
        try expect(claim.job == bench.job(device), "\(device) is next")
      }
    },
    ExchangeConformance("a job that is published twice exists once") { bench in
      try await bench.publish(bench.job("a"), bench.job("a"))
      _ = try await bench.claim()
      try await bench.expectNoJob("there is one job")
    },
    ExchangeConformance("a claimed job that is published again stays claimed") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.publish(bench.job("a"))
      try await bench.expectNoJob("no other worker receives the job")
      _ = try await bench.renew(claim)
    },
    ExchangeConformance("a finished job that is published again stays finished") { bench in
      try await bench.publish(bench.job("a"))
      try await bench.finish(try await bench.claim())
      try await bench.publish(bench.job("a"))
      try await bench.expectNoJob("the job has ended")
    },
    ExchangeConformance("a device has one open job") { bench in
      try await bench.publish(bench.job("a"))
      do throws(ExchangeFault) { try await bench.publish(bench.job("a", attempt: 2)) } catch {
        try expect(error == .deviceTaken(by: bench.job("a").id), "the error names the first job")
        _ = try await bench.claim()
        return try await bench.expectNoJob("the refused job does not exist")
      }
      throw ConformanceFailure(what: "a second open job is refused", line: #line)
    },
    ExchangeConformance("a device has one open job in all runs") { bench in
      try await bench.publish(bench.job("a"))
      do throws(ExchangeFault) { try await bench.publish(bench.job("a", run: "s")) } catch {
        return try expect(
          error == .deviceTaken(by: bench.job("a").id), "it names the job: \(error)")
      }
      throw ConformanceFailure(what: "a second run may not use the device", line: #line)
    },
    ExchangeConformance("the next attempt may be published after the end of the last") { bench in
      try await bench.publish(bench.job("a"))
      try await bench.release(try await bench.claim(), .deviceBusy)
      try await bench.publish(bench.job("a", attempt: 2))
      let claim = try await bench.claim()
      try expect(claim.job == bench.job("a", attempt: 2), "the job is the second attempt")
    },
    ExchangeConformance("an attempt before the newest of its device is ignored") { bench in
      for attempt in 1...2 {
        try await bench.publish(bench.job("a", attempt: attempt))
        try await bench.finish(try await bench.claim(), .returned(.stopping))
      }
      try await bench.publish(bench.job("a"))
      try await bench.expectNoJob("the first attempt is over")
    },
    ExchangeConformance("a job carries its complete order") { bench in
      var order = WorkOrder()
      order.name = "Lamp"
      order.options.writing = .withoutResponse
      order.options.mtu = 247
      order.options.force = true
      order.options.attemptLimit = .seconds(77)
      order.requirements.battery = DeviceRequirements.Battery(percent: 40, unknown: .refuse)
      var hooks = CampaignHooks()
      hooks.commands[.beforeDevice] = .words(["open", "the door"])
      hooks.commands[.afterDevice] = .shell("close")
      hooks.onFailure = .fail
      order.hooks = hooks
      order.hookFacts = ["OTAFLASH_HOOK_DEVICE": "a"]
      order.search = .seconds(60)
      let job = UpdateJob(id: bench.job("a").id, image: "i", order: order)
      try await bench.publish(job)
      let claim = try await bench.claim()
      try expect(claim.job == job, "the order arrives unchanged: \(claim.job.order)")
    },
    ExchangeConformance("a sealed key arrives unchanged, and no text contains it") { bench in
      var order = WorkOrder()
      order.key = SealedKey(site: "kitchen", box: Array(0...255))
      try await bench.publish(UpdateJob(id: bench.job("a").id, image: "i", order: order))
      let claim = try await bench.claim()
      try expect(claim.job.order.key == order.key, "the key arrives")
      try expect(!"\(claim)".contains("254, 255"), "a text of the claim does not contain it")
    },
    ExchangeConformance("ten thousand jobs at two hundred sites are available at their sites") {
      bench in
      for number in 0..<10_000 {
        try await bench.publish(bench.job("d\(number)", site: "s\(number % 200)"))
      }
      for site in 0..<200 {
        let claim = try await bench.claim(by: FleetWorker(name: "w\(site)", site: "s\(site)"))
        try expect(claim.job.id.device == "d\(site)", "the first job of the site")
      }
    },
  ]

  static let claims = [
    ExchangeConformance("a job is claimed by one worker") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      await bench.pass(seconds: 44)
      try await bench.expectNoJob("the other worker receives no job")
    },
    ExchangeConformance("a claim names its worker") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try expect(claim.worker == "a" && claim.epoch > 0, "worker and epoch are correct")
    },
    ExchangeConformance("a worker receives jobs of its site, and jobs without a site") { bench in
      try await bench.publish(
        bench.job("b", site: "berlin"), bench.job("p", site: "paris"), bench.job("n"))
      let paris = FleetWorker(name: "p", site: "paris")
      let first = try await bench.claim(by: paris)
      let second = try await bench.claim(by: paris)
      try expect(
        Set([first.job.id.device, second.job.id.device]) == ["p", "n"], "these two jobs")
      try await bench.expectNoJob(for: paris, "the worker does not receive Berlin's job")
    },
    ExchangeConformance("a device in range of two sites is moved after its claim ended") { bench in
      let (berlin, paris) = (
        FleetWorker(name: "b", site: "berlin"), FleetWorker(name: "p", site: "paris")
      )
      try await bench.publish(bench.job("a", site: "berlin"))
      let first = try await bench.claim(by: berlin)
      do throws(ExchangeFault) {
        try await bench.publish(bench.job("a", attempt: 2, site: "paris"))
        throw .storage(StorageFault(.system, "the other site receives the device"))
      } catch {
        try expect(error == .deviceTaken(by: first.job.id), "the first site has it: \(error)")
      }
      try await bench.coordinator.cancel([first.job.id])
      try expect(try await bench.renew(first) == .recalled, "the first claim is recalled")
      try await bench.expectNoJob(for: paris, "the first claim has not ended")
      try await bench.release(first, .recalled)
      try await bench.publish(bench.job("a", attempt: 2, site: "paris"))
      try await bench.expectNoJob(for: berlin, "the device belongs to the other site")
      let second = try await bench.claim(by: paris)
      try await bench.expectLost("the first claim") { () async throws(ExchangeFault) in
        try await bench.finish(first)
      }
      try await bench.finish(second)
    },
    ExchangeConformance("a worker without a site receives all jobs") { bench in
      try await bench.publish(
        bench.job("b", site: "berlin"), bench.job("n"), bench.job("p", site: "paris"))
      var devices: Set<String> = []
      for _ in 0..<3 { devices.insert(try await bench.claim().job.id.device) }
      try expect(devices == ["b", "n", "p"], "all of them: \(devices)")
    },
    ExchangeConformance("a site without a worker does not delay other jobs") { bench in
      for number in 0..<50 { try await bench.publish(bench.job("b\(number)", site: "berlin")) }
      try await bench.publish(bench.job("n"))
      let claim = try await bench.claim(by: FleetWorker(name: "p", site: "paris"))
      try expect(claim.job.id.device == "n", "the job without a site is available immediately")
    },
    ExchangeConformance("a worker finds the claims whose reply was lost") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"), bench.job("c"))
      let first = try await bench.claim()
      let second = try await bench.claim()
      _ = try await bench.claim(by: .b)
      let found = try await bench.connection(of: .a).claims(of: .a)
      try expect(Set(found) == [first, second], "the claims of this worker: \(found)")
      try await bench.finish(found[0])
    },
    ExchangeConformance("a worker does not find claims that ended") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"), bench.job("c"))
      try await bench.finish(try await bench.claim())
      try await bench.release(try await bench.claim(), .deviceBusy)
      _ = try await bench.claim()
      await bench.pass(seconds: 46)
      let found = try await bench.connection(of: .a).claims(of: .a)
      try expect(found.isEmpty, "finished, returned and expired claims are no claims: \(found)")
    },
    ExchangeConformance("a worker that finds a claim again may find it recalled") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      try await bench.coordinator.cancel([bench.job("a").id])
      let found = try await bench.connection(of: .a).claims(of: .a)
      try expect(found.count == 1, "the claim exists until its worker returns it")
      try expect(try await bench.renew(found[0]) == .recalled, "and is recalled")
    },
    ExchangeConformance("a hundred concurrent workers share the jobs without a duplicate") {
      bench in
      for number in 0..<100 { try await bench.publish(bench.job("d\(number)")) }
      let claims = await withTaskGroup(of: JobClaim?.self) { group in
        for number in 0..<100 {
          group.addTask {
            do throws(ExchangeFault) {
              return try await bench.claimed(by: FleetWorker(name: "w\(number)"))
            } catch {
              return nil
            }
          }
        }
        return await group.reduce(into: [JobClaim]()) { $0 += $1.map { [$0] } ?? [] }
      }
      let devices = Set(claims.map(\.job.id.device))
      try expect(claims.count == 100 && devices.count == 100, "each worker has a different job")
    },
  ]

  static let polls = [
    ExchangeConformance("a worker that waits receives a job when it is published") { bench in
      async let waiting = bench.connection(of: .a).claim(
        for: .a, lease: bench.lease, waitingUpTo: bench.second * 30)
      await bench.pass(seconds: 5)
      try await bench.publish(bench.job("a"))
      let claim = try await waiting
      try expect(claim?.job.id.device == "a", "the wait ends with the job")
    },
    ExchangeConformance("a wait for a job ends without one") { bench in
      let claim = try await bench.connection(of: .a).claim(
        for: .a, lease: bench.lease, waitingUpTo: bench.second * 3)
      try expect(claim == nil, "there is no job")
    },
    ExchangeConformance("a worker that waits receives a job whose claim expires") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim(by: .b)
      let claim = try await bench.connection(of: .a).claim(
        for: .a, lease: bench.lease, waitingUpTo: bench.second * 60)
      try expect(claim?.job.id.device == "a", "the job is offered again")
    },
    ExchangeConformance("a job is available immediately to a worker that would wait") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.connection(of: .a).claim(
        for: .a, lease: bench.lease, waitingUpTo: bench.second * 30)
      try expect(claim != nil, "it does not wait")
      guard let claim else { return }
      try expect(try await bench.renew(claim) == .held, "the claim is new")
    },
    ExchangeConformance("cancellation ends a wait for a job") { bench in
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do throws(ExchangeFault) {
            _ = try await bench.connection(of: .a).claim(
              for: .a, lease: bench.lease, waitingUpTo: bench.second * 100_000)
          } catch {
            return
          }
        }
        await bench.pass(seconds: 1)
        group.cancelAll()
      }
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim(by: .b)
    },
  ]

  static let leases = [
    ExchangeConformance("an unrenewed claim expires, and the job is offered again") { bench in
      try await bench.publish(bench.job("a"))
      let first = try await bench.claim()
      await bench.pass(seconds: 46)
      let second = try await bench.claim(by: .b)
      try expect(second.job == first.job, "both claims are on the same job")
      try expect(second.epoch > first.epoch, "the second claim has a later epoch")
    },
    ExchangeConformance("a renewed claim expires later") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 30)
      try expect(try await bench.renew(claim) == .held, "the claim is held")
      await bench.pass(seconds: 43)
      try await bench.expectNoJob("no worker receives the job before")
      await bench.pass(seconds: 3)
      _ = try await bench.claim(by: .b)
    },
    ExchangeConformance("a claim can be renewed repeatedly") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      for _ in 0..<40 {
        await bench.pass(seconds: 15)
        _ = try await bench.renew(claim)
      }
      try expect(try await bench.facts().count == 1, "there is one fact")
    },
    ExchangeConformance("an expired claim cannot be renewed") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 46)
      try await bench.expectLost("a renewal") { () async throws(ExchangeFault) in
        _ = try await bench.renew(claim)
      }
    },
    ExchangeConformance("an expired claim permits no report, although no worker claimed the job") {
      bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 46)
      try await bench.expectLost("a report") { () async throws(ExchangeFault) in
        try await bench.report(claim, activating("a"))
      }
      let facts = try await bench.facts()
      try expect(!facts.contains(activating("a")), "no activation is reported: \(facts)")
    },
    ExchangeConformance("an expired claim does not end its job, although no worker claimed it") {
      bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 46)
      try await bench.expectLost("a result") { () async throws(ExchangeFault) in
        try await bench.finish(claim)
      }
      let next = try await bench.claim(by: .b)
      try expect(next.job.id == claim.job.id, "the job is offered")
    },
    ExchangeConformance("a worker may ask for another lease") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"))
      let long = try await bench.connection(of: .a).claim(
        for: .a, lease: bench.second * 90, waitingUpTo: .zero)
      _ = try await bench.claim()
      await bench.pass(seconds: 50)
      let next = try await bench.claim(by: .b)
      try expect(next.job.id.device == "b", "the shorter claim expired")
      if let long { _ = try await bench.renew(long) }
    },
    ExchangeConformance("leases of two workers are independent") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"))
      let first = try await bench.claim()
      await bench.pass(seconds: 30)
      let second = try await bench.claim(by: .b)
      await bench.pass(seconds: 20)
      try await bench.expectLost("the first") { () async throws(ExchangeFault) in
        _ = try await bench.renew(first)
      }
      _ = try await bench.renew(second)
    },
    ExchangeConformance("a worker that lost its job can no longer report it") { bench in
      try await bench.publish(bench.job("a"))
      let zombie = try await bench.claim()
      await bench.pass(seconds: 46)
      let holder = try await bench.claim(by: .b)
      try await bench.expectLost("a report") { () async throws(ExchangeFault) in
        try await bench.report(zombie, activating("a"))
      }
      try await bench.release(zombie, .stopping)
      try await bench.finish(holder)
      let facts = try await bench.facts()
      try expect(
        facts == [
          claimedEvent("a", by: "a"), expired("a"), claimedEvent("a", by: "b"),
          ended("a", .current(version: nil)),
        ], "the facts are the holder's: \(facts)")
    },
    ExchangeConformance("a new claim of the same worker invalidates its old claim") { bench in
      try await bench.publish(bench.job("a"))
      let before = try await bench.claim()
      await bench.pass(seconds: 46)
      let after = try await bench.claim()
      try await bench.expectLost("the old claim") { () async throws(ExchangeFault) in
        _ = try await bench.renew(before)
      }
      try await bench.finish(after)
    },
    ExchangeConformance("a job after an activation is verified first") { bench in
      try await bench.publish(bench.job("a"))
      let before = try await bench.claim()
      try expect(!before.job.verifyFirst, "no activation has started")
      try await bench.report(before, placed("a"))
      try await bench.report(before, activating("a"))
      await bench.pass(seconds: 46)
      let after = try await bench.claim(by: .b)
      try expect(after.job.verifyFirst, "the device may run the image")
    },
    ExchangeConformance("reading facts reports an expired claim") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      await bench.pass(seconds: 44)
      try expect(try await bench.facts().count == 1, "not before")
      await bench.pass(seconds: 2)
      try expect(try await bench.facts().last == expired("a"), "at its time")
    },
  ]
}
