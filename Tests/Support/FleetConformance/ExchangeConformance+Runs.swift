import OtaflashFleet

extension ExchangeConformance {
  static let facts = [
    ExchangeConformance("the numbers of facts increase, and facts can be read in parts") { bench in
      for number in 0..<7 { try await bench.publish(bench.job("d\(number)")) }
      for _ in 0..<7 { _ = try await bench.claim() }
      var numbers: [Int] = []
      while true {
        let part = try await bench.coordinator.facts(of: "r", after: numbers.last ?? 0, limit: 3)
        guard !part.isEmpty else { break }
        try expect(part.count <= 3, "no more facts than requested")
        numbers += part.map(\.number)
      }
      try expect(
        numbers.count == 7 && numbers == Set(numbers).sorted(), "they increase: \(numbers)")
    },
    ExchangeConformance("unrecorded facts can be read again") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      let first = try await bench.coordinator.facts(of: "r", after: 0, limit: 10)
      let second = try await bench.coordinator.facts(of: "r", after: 0, limit: 10)
      try expect(first == second && first.count == 1, "both times the same")
    },
    ExchangeConformance("the coordinator is woken by a fact") { bench in
      try await bench.publish(bench.job("a"))
      async let arrival: Void = bench.coordinator.arrival(of: "r", after: 0)
      await bench.pass(seconds: 1)
      _ = try await bench.claim()
      await arrival
      try expect(try await bench.facts().count == 1, "the fact is available")
    },
    ExchangeConformance("a fact that exists is waited for only once") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      await bench.coordinator.arrival(of: "r", after: 0)
      try expect(try await bench.facts().count == 1, "the wait ended immediately")
    },
    ExchangeConformance("the last progress of a transfer is available or lost") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      let values = [10, 20].map { JobProgress(job: claim.job.id, bytes: $0, total: 100) }
      for value in values { bench.holder(claim).progress(claim, value) }
      await bench.pass(seconds: 1)
      let seen = await bench.coordinator.progress(of: "r")
      try expect(seen.isEmpty || seen == [values[1]] || seen == [values[0]], "one value: \(seen)")
      try await bench.finish(claim)
      await bench.pass(seconds: 1)
      let after = await bench.coordinator.progress(of: "r")
      try expect(after.isEmpty, "an ended job has no progress: \(after)")
    },
  ]

  static let records = [
    ExchangeConformance("a wait for the record ends when the facts are recorded") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.report(claim, activating("a"))
      async let recorded: Void = bench.holder(claim).recorded(claim)
      await bench.coordinator.arrival(of: "r", after: 1)
      let last = try await bench.coordinator.facts(of: "r", after: 0, limit: 10).last?.number ?? 0
      _ = try await bench.coordinator.facts(of: "r", after: last, limit: 10)
      try await recorded
    },
    ExchangeConformance("a wait for the record fails when the coordinator ends") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.report(claim, activating("a"))
      async let recorded: Void = bench.holder(claim).recorded(claim)
      bench.coordinator.close("r")
      do { try await recorded } catch {
        return try expect(error as? ExchangeFault == .notRecorded, "it says so: \(error)")
      }
      throw ConformanceFailure(what: "an unrecorded fact is reported as recorded", line: #line)
    },
    ExchangeConformance("a fact that is recorded already is not waited for") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.report(claim, activating("a"))
      let last = try await bench.coordinator.facts(of: "r", after: 0, limit: 10).last?.number ?? 0
      _ = try await bench.coordinator.facts(of: "r", after: last, limit: 10)
      try await bench.holder(claim).recorded(claim)
    },
  ]

  static let runs = [
    ExchangeConformance("one worker has jobs of two runs, whose facts are separate") { bench in
      try await bench.coordinator.open("s")
      try await bench.publish(bench.job("a"), bench.job("b", run: "s"))
      try await bench.finish(try await bench.claim())
      let second = try await bench.claim()
      try expect(second.job.id.run == "s", "the job of the other run")
      try await bench.finish(second, reverted)
      let (first, other) = (try await bench.facts(), try await bench.facts(of: "s"))
      try expect(first.last == ended("a", .current(version: nil)), "the facts of r: \(first)")
      try expect(other.last == ended("b", reverted) && other.count == 2, "and of s: \(other)")
    },
    ExchangeConformance("a run that closes does not end waits for records of another") { bench in
      try await bench.coordinator.open("s")
      try await bench.publish(bench.job("b", run: "s"))
      let claim = try await bench.claim()
      try await bench.report(claim, activating("b"))
      bench.coordinator.close("r")
      async let recorded: Void = bench.holder(claim).recorded(claim)
      let last = try await bench.coordinator.facts(of: "s", after: 0, limit: 10).last?.number ?? 0
      _ = try await bench.coordinator.facts(of: "s", after: last, limit: 10)
      try await recorded
    },
    ExchangeConformance("an ended run is forgotten with its facts") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"))
      try await bench.finish(try await bench.claim())
      try await bench.coordinator.forget("r")
      try expect(try await bench.facts().isEmpty, "no facts are left")
      try await bench.expectNoJob("no job is left")
    },
    ExchangeConformance("a claim of a forgotten run is lost") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      try await bench.coordinator.forget("r")
      try await bench.expectLost("a renewal") { () async throws(ExchangeFault) in
        _ = try await bench.renew(claim)
      }
      try await bench.expectLost("a result") { () async throws(ExchangeFault) in
        try await bench.finish(claim)
      }
    },
    ExchangeConformance("a device of a forgotten run is free") { bench in
      try await bench.publish(bench.job("a"))
      _ = try await bench.claim()
      try await bench.coordinator.forget("r")
      try await bench.coordinator.open("s")
      try await bench.publish(bench.job("a", run: "s"))
      let claim = try await bench.claim(by: .b)
      try expect(claim.job.id.run == "s", "another run has the device")
    },
    ExchangeConformance("forgetting a run leaves the jobs of others") { bench in
      try await bench.publish(bench.job("a"), bench.job("b", run: "s"))
      let claim = try await bench.claim(by: .b)
      try await bench.coordinator.forget(claim.job.id.run == "r" ? "s" : "r")
      _ = try await bench.renew(claim)
      try await bench.coordinator.forget("unknown")
    },
  ]

  static let restarts = [
    ExchangeConformance("a coordinator that restarts takes no claim away") { bench in
      try await bench.publish(bench.job("a"), bench.job("b"))
      let claim = try await bench.claim()
      bench.coordinator.close("r")
      await bench.pass(seconds: 20)
      try await bench.coordinator.open("r")
      try await bench.publish(bench.job("a"), bench.job("b"))
      _ = try await bench.renew(claim)
      try await bench.report(claim, placed("a"))
      try await bench.finish(claim)
      let next = try await bench.claim(by: .b)
      try expect(next.job.id.device == "b", "only the waiting job is offered")
      let facts = try await bench.facts()
      try expect(
        facts == [
          claimedEvent("a", by: "a"), placed("a"), ended("a", .current(version: nil)),
          claimedEvent("b", by: "b"),
        ], "the facts are complete: \(facts)")
    },
    ExchangeConformance("facts that a coordinator had not recorded are available to the next") {
      bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      let first = try await bench.coordinator.facts(of: "r", after: 0, limit: 10)
      bench.coordinator.close("r")
      try await bench.finish(claim, reverted)
      try await bench.coordinator.open("r")
      let second = try await bench.coordinator.facts(of: "r", after: 0, limit: 10)
      try expect(second.first == first.first, "the unrecorded fact is there again")
      try expect(second.last?.event == ended("a", reverted), "and the later one")
    },
    ExchangeConformance("a wait for the record succeeds with the next coordinator") { bench in
      try await bench.publish(bench.job("a"))
      let claim = try await bench.claim()
      bench.coordinator.close("r")
      try await bench.coordinator.open("r")
      try await bench.report(claim, activating("a"))
      async let recorded: Void = bench.holder(claim).recorded(claim)
      let last = try await bench.coordinator.facts(of: "r", after: 0, limit: 10).last?.number ?? 0
      _ = try await bench.coordinator.facts(of: "r", after: last, limit: 10)
      try await recorded
    },
  ]
}
