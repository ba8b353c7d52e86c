import OtaflashFleet

extension ExchangeConformance {
  static let publication = [
    ExchangeConformance("an empty exchange has no job") { exchange in
      let claim = try await exchange.claim(for: worker, now: time(0), lease: lease)
      try expect(claim == nil, "there is nothing to claim")
    },
    ExchangeConformance("publishing nothing changes nothing") { exchange in
      try await exchange.publish([])
      try expect(try await facts(exchange).isEmpty, "there is no fact")
    },
    ExchangeConformance("jobs are claimed in the order of their publication") { exchange in
      try await exchange.publish([job("c"), job("a")])
      try await exchange.publish([job("b")])
      for device in ["c", "a", "b"] {
        let claim = try await claim(exchange)
        try expect(claim.job == job(device), "\(device) comes now")
      }
    },
    ExchangeConformance("a job that is published twice is there once") { exchange in
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
      try expect(second == nil, "nobody else gets it")
    },
    ExchangeConformance("a finished job that is published again stays finished") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.finish(try await claim(exchange), .current(version: nil))
      try await exchange.publish([job("a")])
      let second = try await exchange.claim(for: other, now: time(1), lease: lease)
      try expect(second == nil, "it is over")
    },
    ExchangeConformance("a device has one open job") { exchange in
      try await exchange.publish([job("a")])
      do throws(ExchangeFault) {
        try await exchange.publish([job("b"), job("a", attempt: 2)])
      } catch {
        try expect(error == .deviceTaken(by: job("a").id), "the first one is named")
        _ = try await claim(exchange)
        let second = try await exchange.claim(for: worker, now: time(0), lease: lease)
        return try expect(second == nil, "none of a refused publication is there")
      }
      throw ConformanceFailure(what: "a second open job is refused", line: #line)
    },
    ExchangeConformance("the next attempt may be published when the last is over") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.release(try await claim(exchange), .notHeard)
      try await exchange.publish([job("a", attempt: 2)])
      let claim = try await claim(exchange)
      try expect(claim.job == job("a", attempt: 2), "it is the second attempt, as published")
    },
  ]

  static let claims = [
    ExchangeConformance("a job is claimed by one worker") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      let second = try await exchange.claim(for: other, now: time(44), lease: lease)
      try expect(second == nil, "the other gets none")
    },
    ExchangeConformance("a claim says who has it and until when") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange, at: 100)
      try expect(claim.worker == "a" && claim.until == time(145), "worker and time are right")
    },
    ExchangeConformance("a worker gets jobs of its place and of no place") { exchange in
      try await exchange.publish([job("b", site: "berlin"), job("p", site: "paris"), job("n")])
      let paris = FleetWorker(name: "p", site: "paris")
      let first = try await claim(exchange, for: paris)
      let second = try await claim(exchange, for: paris)
      try expect([first.job.id.device, second.job.id.device] == ["p", "n"], "these two, in order")
      let third = try await exchange.claim(for: paris, now: time(0), lease: lease)
      try expect(third == nil, "Berlin's is not for it")
    },
    ExchangeConformance("a worker without a place gets all jobs, in their order") { exchange in
      try await exchange.publish([job("b", site: "berlin"), job("n"), job("p", site: "paris")])
      for device in ["b", "n", "p"] {
        let claim = try await claim(exchange)
        try expect(claim.job.id.device == device, "\(device) comes now")
      }
    },
    ExchangeConformance("a place that nobody works at holds up no other") { exchange in
      try await exchange.publish((0..<50).map { job("b\($0)", site: "berlin") } + [job("n")])
      let claim = try await claim(exchange, for: FleetWorker(name: "p", site: "paris"))
      try expect(claim.job.id.device == "n", "the job without a place is there at once")
    },
  ]

  static let leases = [
    ExchangeConformance("an unrenewed claim runs out, and the job is offered anew") { exchange in
      try await exchange.publish([job("a")])
      let first = try await claim(exchange)
      let second = try await claim(exchange, at: 45, for: other)
      try expect(second.job == first.job, "it is the same job")
      try expect(second.epoch > first.epoch, "with a later epoch")
    },
    ExchangeConformance("a renewed claim holds longer") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      let standing = try await exchange.renew(claim, now: time(30), lease: lease)
      try expect(standing == .held(until: time(75)), "until 75 s")
      let second = try await exchange.claim(for: other, now: time(74), lease: lease)
      try expect(second == nil, "nobody gets it before")
      _ = try await Self.claim(exchange, at: 75, for: other)
    },
    ExchangeConformance("a claim can be renewed again and again") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      for seconds in stride(from: Int64(15), to: 600, by: 15) {
        _ = try await exchange.renew(claim, now: time(seconds), lease: lease)
      }
      try expect(try await facts(exchange, at: 600).count == 1, "there is one fact")
    },
    ExchangeConformance("a claim that ran out cannot be renewed") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await expectLost { () async throws(ExchangeFault) in
        _ = try await exchange.renew(claim, now: time(45), lease: lease)
      }
    },
    ExchangeConformance("whoever lost a job to another can report and finish nothing") { exchange in
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
    ExchangeConformance("the same worker that claims anew fences its former self") { exchange in
      try await exchange.publish([job("a")])
      let before = try await claim(exchange)
      let after = try await claim(exchange, at: 60)
      try await expectLost { () async throws(ExchangeFault) in
        try await exchange.finish(before, .current(version: nil))
      }
      try await exchange.finish(after, .current(version: nil))
    },
    ExchangeConformance("who takes a job on after an activation looks first") { exchange in
      try await exchange.publish([job("a")])
      let before = try await claim(exchange)
      try expect(!before.job.verifyFirst, "nobody has begun")
      try await exchange.report(before, placed("a"))
      try await exchange.report(before, activating("a"))
      let after = try await claim(exchange, at: 60, for: other)
      try expect(after.job.verifyFirst, "the device may run the image")
    },
    ExchangeConformance("facts tell of a claim that ran out, whoever asks") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      try expect(try await facts(exchange, at: 44).count == 1, "not before")
      try expect(
        try await facts(exchange, at: 45)
          .last == .claimExpired(device: "a", attempt: 1), "at its time")
    },
    ExchangeConformance("of a lost claim there is nothing to release") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.finish(claim, .current(version: nil))
      try await exchange.release(claim, .stopping)
      try expect(try await facts(exchange).count == 2, "nothing was added")
    },
  ]
}
