import OtaflashFleet

extension ExchangeConformance {
  static let publication = [
    ExchangeConformance("an empty exchange has no job") { exchange in
      let claim = try await exchange.claim(for: worker, now: time(0), lease: lease)
      try expect(claim == nil, "there is no job to claim")
    },
    ExchangeConformance("an empty publication changes nothing") { exchange in
      try await exchange.publish([])
      try expect(try await facts(exchange).isEmpty, "there is no fact")
    },
    ExchangeConformance("jobs are claimed in the order of their publication") { exchange in
      try await exchange.publish([job("c"), job("a")])
      try await exchange.publish([job("b")])
      for device in ["c", "a", "b"] {
        let claim = try await claim(exchange)
        try expect(claim.job == job(device), "\(device) is next")
      }
    },
    ExchangeConformance("a job that is published twice exists once") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      let second = try await exchange.claim(for: other, now: time(0), lease: lease)
      try expect(second == nil, "there is one job")
    },
    ExchangeConformance("a claimed job that is published again stays claimed") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      try await exchange.publish([job("a")])
      let second = try await exchange.claim(for: other, now: time(1), lease: lease)
      try expect(second == nil, "no other worker gets the job")
    },
    ExchangeConformance("a finished job that is published again stays finished") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.finish(try await claim(exchange), .current(version: nil))
      try await exchange.publish([job("a")])
      let second = try await exchange.claim(for: other, now: time(1), lease: lease)
      try expect(second == nil, "the job has ended")
    },
    ExchangeConformance("a device has one open job") { exchange in
      try await exchange.publish([job("a")])
      do throws(ExchangeFault) {
        try await exchange.publish([job("b"), job("a", attempt: 2)])
      } catch {
        try expect(error == .deviceTaken(by: job("a").id), "the error names the first job")
        _ = try await claim(exchange)
        let second = try await exchange.claim(for: worker, now: time(0), lease: lease)
        return try expect(second == nil, "no job of a refused publication exists")
      }
      throw ConformanceFailure(what: "a second open job is refused", line: #line)
    },
    ExchangeConformance("the next attempt may be published after the end of the last") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.release(try await claim(exchange), .notHeard)
      try await exchange.publish([job("a", attempt: 2)])
      let claim = try await claim(exchange)
      try expect(claim.job == job("a", attempt: 2), "the job is the second attempt, as published")
    },
  ]

  static let claims = [
    ExchangeConformance("a job is claimed by one worker") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      let second = try await exchange.claim(for: other, now: time(44), lease: lease)
      try expect(second == nil, "the other worker gets no job")
    },
    ExchangeConformance("a claim states its worker and its end") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange, at: 100)
      try expect(claim.worker == "a" && claim.until == time(145), "worker and time are correct")
    },
    ExchangeConformance("a worker gets jobs of its site, and jobs without a site") { exchange in
      try await exchange.publish([job("b", site: "berlin"), job("p", site: "paris"), job("n")])
      let paris = FleetWorker(name: "p", site: "paris")
      let first = try await claim(exchange, for: paris)
      let second = try await claim(exchange, for: paris)
      try expect(
        [first.job.id.device, second.job.id.device] == ["p", "n"], "these two jobs, in order")
      let third = try await exchange.claim(for: paris, now: time(0), lease: lease)
      try expect(third == nil, "the worker does not get Berlin's job")
    },
    ExchangeConformance("a worker without a site gets all jobs, in order") { exchange in
      try await exchange.publish([job("b", site: "berlin"), job("n"), job("p", site: "paris")])
      for device in ["b", "n", "p"] {
        let claim = try await claim(exchange)
        try expect(claim.job.id.device == device, "\(device) is next")
      }
    },
    ExchangeConformance("a site without a worker does not delay other jobs") { exchange in
      try await exchange.publish((0..<50).map { job("b\($0)", site: "berlin") } + [job("n")])
      let claim = try await claim(exchange, for: FleetWorker(name: "p", site: "paris"))
      try expect(claim.job.id.device == "n", "the job without a site is available immediately")
    },
  ]

  static let leases = [
    ExchangeConformance("an unrenewed claim expires, and the job is offered again") { exchange in
      try await exchange.publish([job("a")])
      let first = try await claim(exchange)
      let second = try await claim(exchange, at: 45, for: other)
      try expect(second.job == first.job, "both claims are on the same job")
      try expect(second.epoch > first.epoch, "the second claim has a later epoch")
    },
    ExchangeConformance("a renewed claim expires later") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      let standing = try await exchange.renew(claim, now: time(30), lease: lease)
      try expect(standing == .held(until: time(75)), "the claim expires after 75 s")
      let second = try await exchange.claim(for: other, now: time(74), lease: lease)
      try expect(second == nil, "no worker gets the job before")
      _ = try await Self.claim(exchange, at: 75, for: other)
    },
    ExchangeConformance("a claim can be renewed repeatedly") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      for seconds in stride(from: Int64(15), to: 600, by: 15) {
        _ = try await exchange.renew(claim, now: time(seconds), lease: lease)
      }
      try expect(try await facts(exchange, at: 600).count == 1, "there is one fact")
    },
    ExchangeConformance("an expired claim cannot be renewed") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await expectLost { () async throws(ExchangeFault) in
        _ = try await exchange.renew(claim, now: time(45), lease: lease)
      }
    },
    ExchangeConformance("a worker that lost its job can no longer report or finish it") {
      exchange in
      try await exchange.publish([job("a")])
      let zombie = try await claim(exchange)
      let holder = try await claim(exchange, at: 60, for: other)
      try await expectLost { () async throws(ExchangeFault) in
        try await exchange.report(zombie, activating("a"))
      }
      try await expectLost { () async throws(ExchangeFault) in
        try await exchange.finish(zombie, .current(version: nil))
      }
      try await exchange.release(zombie, .stopping)
      try await exchange.finish(holder, .current(version: nil))
      let facts = try await facts(exchange, at: 61)
      try expect(
        facts == [
          .deviceClaimed(device: "a", attempt: 1, worker: "a"),
          .claimExpired(device: "a", attempt: 1),
          .deviceClaimed(device: "a", attempt: 1, worker: "b"),
          ended("a", .current(version: nil)),
        ], "the facts are the holder's: \(facts)")
    },
    ExchangeConformance("a new claim of the same worker invalidates its old claim") { exchange in
      try await exchange.publish([job("a")])
      let before = try await claim(exchange)
      let after = try await claim(exchange, at: 60)
      try await expectLost { () async throws(ExchangeFault) in
        try await exchange.finish(before, .current(version: nil))
      }
      try await exchange.finish(after, .current(version: nil))
    },
    ExchangeConformance("a job after an activation is verified first") { exchange in
      try await exchange.publish([job("a")])
      let before = try await claim(exchange)
      try expect(!before.job.verifyFirst, "no activation has started")
      try await exchange.report(before, placed("a"))
      try await exchange.report(before, activating("a"))
      let after = try await claim(exchange, at: 60, for: other)
      try expect(after.job.verifyFirst, "the device may run the image")
    },
    ExchangeConformance("reading facts reports an expired claim") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      try expect(try await facts(exchange, at: 44).count == 1, "not before")
      try expect(
        try await facts(exchange, at: 45)
          .last == .claimExpired(device: "a", attempt: 1), "at its time")
    },
    ExchangeConformance("the release of a lost claim has no effect") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.finish(claim, .current(version: nil))
      try await exchange.release(claim, .stopping)
      try expect(try await facts(exchange).count == 2, "no news is added")
    },
  ]
}
