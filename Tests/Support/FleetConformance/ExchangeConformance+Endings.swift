import OtaflashFleet

extension ExchangeConformance {
  static let endings = [
    ExchangeConformance("a job is finished only once") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.finish(claim)
      try await bench.expectLost("another outcome") { () async throws(ExchangeFault) in
        try await bench.finish(claim, reverted)
      }
      try expect(try await bench.facts().count == 2, "the first outcome is the only one")
    },
    ExchangeConformance("a repeated result succeeds: the reply to the first was lost") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.finish(claim, reverted)
      try await bench.finish(claim, reverted)
      try expect(try await bench.facts().count == 2, "there is one outcome")
    },
    ExchangeConformance("a repeated result succeeds after it was recorded") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.finish(claim, reverted)
      _ = try await bench.coordinator.facts(of: "r", after: 2, limit: 10)
      try await bench.finish(claim, reverted)
      let facts = try await bench.coordinator.facts(of: "r", after: 2, limit: 10)
      try expect(facts.isEmpty, "nothing is reported twice")
    },
    ExchangeConformance("an equal result of an older claim is not a repetition") { bench in
      try await bench.publish(bench.job("a"))
      let before = try await bench.claim()
      await bench.pass(seconds: 46)
      try await bench.finish(try await bench.claim(by: .b), reverted)
      try await bench.expectLost("the older claim") { () async throws(ExchangeFault) in
        try await bench.finish(before, reverted)
      }
    },
    ExchangeConformance("reports of a worker become facts in order") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.report(claim, placed("a"))
      try await bench.report(claim, .transferBegan(device: "a", attempt: 1, offset: 4096))
      try await bench.report(claim, activating("a"))
      try await bench.finish(claim, reverted)
      let facts = try await bench.facts()
      try expect(
        facts == [
          claimedEvent("a", by: "a"), placed("a"),
          .transferBegan(device: "a", attempt: 1, offset: 4096), activating("a"),
          ended("a", reverted),
        ], "the facts are complete: \(facts)")
    },
    ExchangeConformance("a released job ends with its reason") { bench in
      for reason in ReturnReason.allCases {
        try await bench.publish(bench.job(reason.rawValue))
        try await bench.release(try await bench.claim(), reason)
        try expect(
          try await bench.facts().last == ended(reason.rawValue, .returned(reason)),
          "\(reason) is reported")
      }
      try await bench.expectNoJob("the coordinator decides about the next attempt")
    },
    ExchangeConformance("the claim on a finished job does not expire") { bench in
      try await bench.publish(bench.job("a"))
      try await bench.finish(try await bench.claim())
      await bench.pass(seconds: 1000)
      try expect(try await bench.facts().count == 2, "no fact is added")
    },
    ExchangeConformance("a repeated release has no effect") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.release(claim, .deviceBusy)
      try await bench.release(claim, .deviceBusy)
      try expect(try await bench.facts().count == 2, "no fact is added")
    },
    ExchangeConformance("the release of a finished job has no effect") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.finish(claim)
      try await bench.release(claim, .stopping)
      try expect(try await bench.facts().count == 2, "no fact is added")
    },
  ]

  static let lateness = [
    ExchangeConformance("an outcome after the end of the lease is kept as a fact") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 60)
      try await bench.expectLost("the claim") { () async throws(ExchangeFault) in
        try await bench.finish(claim, reverted)
      }
      let facts = try await bench.facts()
      try expect(
        facts == [claimedEvent("a", by: "a"), expired("a"), late("a", by: "a", reverted)],
        "the outcome is a fact: \(facts)")
    },
    ExchangeConformance("a late outcome is one fact, however often it is reported") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 60)
      for _ in 0..<3 {
        try await bench.expectLost("the claim") { () async throws(ExchangeFault) in
          try await bench.finish(claim, reverted)
        }
      }
      let count = try await bench.facts().count { $0 == late("a", by: "a", reverted) }
      try expect(count == 1, "it is one fact")
    },
    ExchangeConformance("a late outcome does not end the job of the next worker") { bench in
      try await bench.publish(bench.job("a"))
      let before = try await bench.claim()
      await bench.pass(seconds: 60)
      let after = try await bench.claim(by: .b)
      try await bench.expectLost("the claim") { () async throws(ExchangeFault) in
        try await bench.finish(before, reverted)
      }
      try expect(try await bench.facts().last == late("a", by: "a", reverted), "it is a fact")
      _ = try await bench.renew(after)
      try await bench.finish(after)
      try expect(
        try await bench.facts().last == ended("a", .current(version: nil)), "the holder decides")
    },
    ExchangeConformance("a late outcome of an ended job is a fact") { bench in
      try await bench.publish(bench.job("a"))
      let before = try await bench.claim()
      await bench.pass(seconds: 60)
      try await bench.finish(try await bench.claim(by: .b))
      try await bench.expectLost("the claim") { () async throws(ExchangeFault) in
        try await bench.finish(before, reverted)
      }
      try expect(try await bench.facts().last == late("a", by: "a", reverted), "it is a fact")
    },
    ExchangeConformance("a late return is not a fact") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      await bench.pass(seconds: 60)
      try await bench.release(claim, .deviceBusy)
      let facts = try await bench.facts()
      try expect(facts == [claimedEvent("a", by: "a"), expired("a")], "nothing is added: \(facts)")
      _ = try await bench.claim(by: .b)
    },
  ]

  static let searches = [
    ExchangeConformance(
      "a job whose device is not in range is offered to the next worker, as the same attempt"
    ) { bench in
      try await bench.publish(bench.job("a", search: 60))
      try await bench.release(try await bench.claim(), .notHeard)
      await bench.pass(seconds: bench.searchDelay + 1)
      let claim = try await bench.claim(by: .b)
      try expect(claim.job == bench.job("a", search: 60), "it is the same attempt")
      try expect(claim.epoch > 1, "with a later epoch")
      try await bench.finish(claim)
      let facts = try await bench.facts()
      try expect(
        facts == [
          claimedEvent("a", by: "a"), .deviceNotInRange(device: "a", attempt: 1, worker: "a"),
          claimedEvent("a", by: "b"), ended("a", .current(version: nil)),
        ], "no attempt ended in between: \(facts)")
    },
    ExchangeConformance("a worker does not receive a job again that it returned a moment ago") {
      bench in
      try await bench.publish(bench.job("a", search: 60))
      try await bench.release(try await bench.claim(), .notHeard)
      try await bench.expectNoJob(for: .a, "it would return it again")
      await bench.pass(seconds: bench.searchDelay + 1)
      _ = try await bench.claim()
    },
    ExchangeConformance("a job that was returned does not delay the next") { bench in
      try await bench.publish(bench.job("a", search: 60), bench.job("b"))
      try await bench.release(try await bench.claim(), .notHeard)
      let claim = try await bench.claim()
      try expect(claim.job.id.device == "b", "the next job is available")
    },
    ExchangeConformance("returns by many workers do not end the attempt in the search time") {
      bench in
      try await bench.publish(bench.job("a", search: 100))
      for round in 0..<4 {
        for worker in 0..<4 {
          let found = try await bench.claimed(by: FleetWorker(name: "w\(worker)"))
          guard let found else { continue }
          try await bench.release(found, .notHeard)
        }
        try expect(
          try await !bench.facts().contains(ended("a", .returned(.notHeard))), "round \(round)")
        await bench.pass(seconds: bench.searchDelay + 1)
      }
      _ = try await bench.claim(by: .b)
    },
    ExchangeConformance("the attempt ends without an outcome after its search time") { bench in
      try await bench.publish(bench.job("a", search: 20))
      try await bench.release(try await bench.claim(), .notHeard)
      await bench.pass(seconds: 21)
      try await bench.release(try await bench.claim(), .notHeard)
      try expect(try await bench.facts().last == ended("a", .returned(.notHeard)), "it ends")
      try await bench.publish(bench.job("a", attempt: 2))
    },
    ExchangeConformance("a returned claim is lost to its worker") { bench in
      try await bench.publish(bench.job("a", search: 60))
      let claim = try await bench.claim()
      try await bench.release(claim, .notHeard)
      try await bench.expectLost("a renewal") { () async throws(ExchangeFault) in
        _ = try await bench.renew(claim)
      }
    },
    ExchangeConformance("a job that is searched for ends when it is cancelled") { bench in
      try await bench.publish(bench.job("a", search: 60))
      try await bench.release(try await bench.claim(), .notHeard)
      try await bench.coordinator.cancel([bench.job("a").id])
      try expect(try await bench.facts().last == ended("a", .returned(.recalled)), "it ends")
      await bench.pass(seconds: bench.searchDelay + 1)
      try await bench.expectNoJob("it is not offered")
    },
  ]

  static let recalls = [
    ExchangeConformance("a waiting job ends when it is cancelled") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"))
      try await bench.coordinator.cancel([bench.job("a").id])
      let claim = try await bench.claim()
      try expect(claim.job.id.device == "b", "only the other job is left")
      try expect(
        try await bench.facts().first == ended("a", .returned(.recalled)), "the end is reported")
    },
    ExchangeConformance("cancelling one of many leaves the others deliverable") { bench in
      for number in 0..<9 { try await bench.publish(bench.job("d\(number)")) }
      try await bench.coordinator.cancel([bench.job("d4").id])
      for number in [0, 1, 2, 3, 5, 6, 7, 8] {
        let claim = try await bench.claim()
        try expect(claim.job.id.device == "d\(number)", "\(number) is delivered")
      }
    },
    ExchangeConformance("a renewal reports to the worker that its job was cancelled") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.coordinator.cancel([bench.job("a").id])
      for _ in 0..<2 {
        await bench.pass(seconds: 5)
        try expect(try await bench.renew(claim) == .recalled, "the job is recalled")
      }
      try await bench.release(claim, .recalled)
      try expect(
        try await bench.facts().last == ended("a", .returned(.recalled)), "the job was returned")
    },
    ExchangeConformance("the result of a cancelled job that was finished counts") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.coordinator.cancel([bench.job("a").id])
      try await bench.finish(claim)
      try expect(
        try await bench.facts().last == ended("a", .current(version: nil)), "the result counts")
    },
    ExchangeConformance("a cancelled job whose claim expires is not offered again") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      try await bench.coordinator.cancel([bench.job("a").id])
      await bench.pass(seconds: 60)
      try await bench.expectNoJob("no worker receives the job")
      try expect(
        try await bench.facts().last == ended("a", .returned(.recalled)), "it is over")
    },
    ExchangeConformance("cancelling an ended or unknown job changes nothing") { bench in
      try await bench.publish(bench.job("a"))
      try await bench.finish(try await bench.claim())
      try await bench.coordinator.cancel([bench.job("a").id, bench.job("unknown").id])
      try expect(try await bench.facts().count == 2, "no fact is added")
    },
  ]
}
