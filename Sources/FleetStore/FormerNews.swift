#if Fleet
import GRDB
import OtaflashFleet

/// The reports of workers in stores up to version 4. They were in a table whose rows the
/// coordinator later converted to events.
enum FormerNews {
  private enum Report: Codable {
    case placed(adapter: String)
    case activating
    case hookEnded(HookPoint, HookOutcome)
  }

  private enum Fact: Codable {
    case claimed(worker: String)
    case reported(Report)
    case expired
    case ended(AttemptEnding)

    func event(of device: FleetDevice.ID, _ attempt: Int) -> FleetEvent {
      switch self {
      case .claimed(let worker): .deviceClaimed(device: device, attempt: attempt, worker: worker)
      case .reported(.placed(let adapter)):
        .devicePlaced(device: device, attempt: attempt, adapter: adapter)
      case .reported(.activating): .deviceActivating(device: device, attempt: attempt)
      case .reported(.hookEnded(let point, let outcome)):
        .deviceHookEnded(device: device, attempt: attempt, point: point, outcome: outcome)
      case .expired: .claimExpired(device: device, attempt: attempt)
      case .ended(let ending): .attemptEnded(device: device, attempt: attempt, ending: ending)
      }
    }
  }

  /// Converts the reports that are not events yet, and removes the tables of jobs and reports.
  static func takeOver(in database: Database) throws {
    try record(in: database)
    try database.execute(
      sql: "DROP TABLE news; DROP TABLE job; ALTER TABLE run DROP COLUMN news_seen;")
  }

  /// Records the reports that the coordinator had not read when its process died. If the next step
  /// of an attempt is not recorded, the process that continues the run queries the device again.
  private static func record(in database: Database) throws {
    let unread = try Row.fetchAll(
      database,
      sql: """
        SELECT news.run, device, attempt, fact FROM news JOIN run ON run.id = news.run
        WHERE number > news_seen ORDER BY number
        """)
    var runs: [String: FleetRun] = [:]
    for news in unread {
      let (id, device): (String, String) = (news["run"], news["device"])
      guard var run = try runs[id] ?? run(id, in: database) else { continue }
      let attempt = try news.count("attempt")
      if let progress = run[device], progress.attempts == attempt,
        progress.phase == .published || progress.phase.isClaimed
      {
        let fact = try StoredValue.value(Fact.self, news["fact"])
        let event = fact.event(of: device, attempt)
        try EventTable.append([event], to: id, at: run.lastAt, in: database)
        run.apply(event, at: run.lastAt)
      }
      runs[id] = run
    }
  }

  /// Returns the run; `nil` = its events are invalid. The error is then reported when the events
  /// are read.
  private static func run(_ id: String, in database: Database) throws -> FleetRun? {
    let history = try EventTable.events(of: id, in: database)
    return FleetRun.fault(of: history) == nil ? FleetRun(history) : nil
  }
}
#endif
