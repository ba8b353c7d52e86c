import OtaflashFleet

extension ExchangeConformance {
  static let endings = [
    ExchangeConformance("a job is finished only once") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.finish(claim, .current(version: nil))
      try await expectLost { () async throws(ExchangeFault) in
        try await exchange.finish(claim, .returned(.stopping))
      }
    },
    ExchangeConformance("reports of a worker become facts in order") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.report(claim, placed("a"))
      try await exchange.report(claim, activating("a"))
      let failure = AttemptFailure(.device, code: "reverted", words: "the device reverted")
      try await exchange.finish(claim, .failed(failure))
      let facts = try await facts(exchange)
      try expect(
        facts == [
          .deviceClaimed(device: "a", attempt: 1, worker: "a"), placed("a"), activating("a"),
          ended("a", .failed(failure)),
        ], "the facts are complete: \(facts)")
    },
    ExchangeConformance("a released job ends with its reason") { exchange in
      for reason in ReturnReason.allCases {
        try await exchange.publish([job(reason.rawValue)])
        try await exchange.release(try await claim(exchange), reason)
        try expect(
          try await facts(exchange).last == ended(reason.rawValue, .returned(reason)),
          "\(reason) is reported")
      }
      let claim = try await exchange.claim(for: worker, now: time(0), lease: lease)
      try expect(claim == nil, "the coordinator decides about the next attempt")
    },
    ExchangeConformance("the claim on a finished job does not expire") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.finish(try await claim(exchange), .current(version: nil))
      try expect(try await facts(exchange, at: 1000).count == 2, "no news is added")
    },
  ]

  static let recalls = [
    ExchangeConformance("a waiting job ends when it is cancelled") { exchange in
      try await exchange.publish([job("a"), job("b")])
      try await exchange.cancel([job("a").id])
      let claim = try await claim(exchange)
      try expect(claim.job.id.device == "b", "only the other job is left")
      try expect(
        try await facts(exchange).first == ended("a", .returned(.recalled)), "the end is reported")
    },
    ExchangeConformance("cancelling one of many leaves the others deliverable") { exchange in
      let jobs = (0..<9).map { job("d\($0)") }
      try await exchange.publish(jobs)
      try await exchange.cancel([jobs[4].id])
      for index in [0, 1, 2, 3, 5, 6, 7, 8] {
        let claim = try await claim(exchange)
        try expect(claim.job == jobs[index], "\(index) is delivered")
      }
    },
    ExchangeConformance("a renewal reports to the worker that its job was cancelled") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.cancel([job("a").id])
      let standing = try await exchange.renew(claim, now: time(10), lease: lease)
      try expect(standing == .recalled(until: time(55)), "the job is recalled")
      try await exchange.release(claim, .recalled)
      try expect(
        try await facts(exchange).last == ended("a", .returned(.recalled)), "the job was returned")
    },
    ExchangeConformance("the result of a cancelled job that was finished counts") { exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.cancel([job("a").id])
      try await exchange.finish(claim, .current(version: nil))
      try expect(
        try await facts(exchange).last == ended("a", .current(version: nil)), "the result counts")
    },
    ExchangeConformance("a cancelled job whose claim expires is not offered again") { exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      try await exchange.cancel([job("a").id])
      let second = try await exchange.claim(for: other, now: time(60), lease: lease)
      try expect(second == nil, "no worker gets the job")
      try expect(
        try await facts(exchange, at: 60).last == ended("a", .returned(.recalled)), "it is over")
    },
    ExchangeConformance("cancelling an ended or unknown job changes nothing") { exchange in
      try await exchange.publish([job("a")])
      try await exchange.finish(try await claim(exchange), .current(version: nil))
      try await exchange.cancel([job("a").id, job("unknown").id])
      try expect(try await facts(exchange).count == 2, "no news is added")
    },
  ]

  static let rest = [
    ExchangeConformance("facts are numbered without gaps, and can be read in parts") { exchange in
      try await exchange.publish((0..<7).map { job("d\($0)") })
      for _ in 0..<7 { _ = try await claim(exchange) }
      var numbers: [Int] = []
      while true {
        let part = try await exchange.facts(after: numbers.last ?? 0, now: time(0), limit: 3)
        guard !part.isEmpty else { break }
        try expect(part.count <= 3, "no more news than requested")
        numbers += part.map(\.number)
      }
      try expect(numbers == Array(1...7), "the numbers are 1 to 7: \(numbers)")
    },
    ExchangeConformance("unrecorded facts can be read again") {
      exchange in
      try await exchange.publish([job("a")])
      _ = try await claim(exchange)
      let first = try await exchange.facts(after: 0, now: time(0), limit: 10)
      let second = try await exchange.facts(after: 0, now: time(0), limit: 10)
      try expect(first == second && first.count == 1, "both times the same")
    },
    ExchangeConformance("a wait for the record ends when the facts are recorded") {
      exchange in
      try await exchange.publish([job("a")])
      let claim = try await claim(exchange)
      try await exchange.report(claim, activating("a"))
      async let recorded: Void = exchange.recorded()
      await exchange.arrival(after: 1)
      _ = try await exchange.facts(after: 2, now: time(0), limit: 10)
      try await recorded
    },
    ExchangeConformance("a wait for the record fails when the coordinator ends") {
      exchange in
      try await exchange.publish([job("a")])
      try await exchange.report(try await claim(exchange), activating("a"))
      async let recorded: Void = exchange.recorded()
      exchange.close()
      do { try await recorded } catch {
        return try expect(error as? ExchangeFault == .notRecorded, "it says so: \(error)")
      }
      throw ConformanceFailure(what: "an unrecorded fact is reported as recorded", line: #line)
    },
    ExchangeConformance("a hundred concurrent workers share the jobs without a duplicate") {
      exchange in
      try await exchange.publish((0..<100).map { job("d\($0)") })
      let claims = await withTaskGroup(of: JobClaim?.self) { group in
        for number in 0..<100 {
          group.addTask {
            do throws(ExchangeFault) {
              return try await exchange.claim(
                for: FleetWorker(name: "w\(number)"), now: time(0), lease: lease)
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
}
