#if Sites
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport

/// The JSON members of the API that do not occur in the output of `--json`.
enum APIValues {
  static func members(of job: UpdateJob.ID) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(job.run), "device": .string(job.device), "attempt": .integer(job.attempt),
    ])
  }

  static func members(of run: RunSummary) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(run.id), "campaign": .string(run.campaign), "began": .string(run.began.text),
      "state": .string(run.state), "events": .integer(run.events), "ended": .bool(run.hasEnded),
      "worked_on": .bool(run.isLive), "needs_operator": .bool(run.needsOperator),
    ])
  }

  /// Returns the members of `fleet_status`, and the start of the run.
  static func members(
    of index: inout RunIndex, isWorkedOn: Bool, at now: WallClockTime
  ) -> [JSONValue.Member] {
    let run = index.run
    let waits = index.waits(at: now).map { JSONValue.object($0.members(in: run, at: now)) }
    let operators = run.operators.map { record in
      JSONValue.object(
        JSONValue.fields(["at": .string(record.at.text)]) + record.action.members)
    }
    return JSONValue.fields([
      "run": .text(run.beginning?.id), "campaign": .text(run.beginning?.campaign),
      "began": run.beganAt.map { .string($0.text) }, "started_by": .text(run.beginning?.startedBy),
      "state": .string(index.stateWords), "ended": .bool(index.hasEnded),
      "worked_on": .bool(isWorkedOn), "needs_operator": .bool(index.needsOperator),
      "events": .integer(run.eventCount), "devices": .integer(index.deviceCount),
      "settled": .integer(run.settledCount), "running": .integer(index.counts[.running]),
      "waves": .array(run.waveMembers), "waits": .array(waits), "operators": .array(operators),
      "actions": .array(index.actions.map { .string($0.rawValue) }),
    ])
  }

  static func members(of attempt: AttemptRecord) -> [JSONValue.Member] {
    JSONValue.fields([
      "attempt": .integer(attempt.number), "worker": .string(attempt.worker),
      "adapter": .text(attempt.adapter), "began": .string(attempt.began.text),
      "ended": attempt.ended.map { .string($0.text) }, "words": .string(attempt.words),
    ])
  }

  static func members(of device: KnownDevice) -> [JSONValue.Member] {
    JSONValue.fields([
      "device": .string(device.id), "name": .text(device.name), "board": .text(device.board),
      "site": .text(device.site), "version": .text(device.version),
      "last": device.latest.map { .object(members(of: $0)) },
    ])
  }

  static func members(of entry: KnownDevice.Entry) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(entry.run), "campaign": .string(entry.campaign),
      "began": .string(entry.began.text), "outcome": .string(entry.report.outcome.rawValue),
      "words": .string(entry.report.words), "from": .text(entry.report.from),
      "to": .text(entry.report.to), "attempts": .integer(entry.report.attempts),
      "cause_words": .text(entry.report.cause),
      "settled": entry.report.settled.map { .string($0.text) },
    ])
  }

  static func table<Row>(
    _ name: String, _ page: TablePage<Row>, _ members: (Row) -> [JSONValue.Member]
  ) -> [JSONValue.Member] {
    [.init(name: name, value: .array(page.rows.map { .object(members($0)) }))]
      + JSONValue.fields([
        "total": .integer(page.total), "page": .integer(page.page), "pages": .integer(page.pages),
        "size": .integer(page.size),
      ])
  }
}
#endif
