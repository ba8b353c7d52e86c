#if Sites
import OtaflashFleet

/// The facts of one run that are not recorded yet, in the order in which the coordinator received
/// the revisions of `STATE`.
struct FactBook: Sendable {
  private struct Entry {
    let fact: JobFact
    let revision: UInt64
  }

  private var entries: [Entry] = []
  /// The number of the last received fact of the run.
  private(set) var last = 0
  /// The number of the last received fact in the entry of each key.
  private var received: [String: Int] = [:]
  /// The number of the last recorded fact in the entry of each key.
  private var recorded: [String: Int] = [:]
  private var keys: [Int: (key: String, number: Int)] = [:]
  /// The revision up to which a former coordinator recorded all facts.
  private(set) var formerlyRecorded: UInt64 = 0

  /// Adds the facts of a job that are new in this revision of its entry.
  ///
  /// - Returns: whether facts were added. Facts that a former coordinator recorded are not added.
  mutating func receive(_ job: DeviceEntry.Job, of key: String, revision: UInt64) -> Bool {
    let former = received[key] ?? 0
    let new = job.facts.filter { $0.number > former }
    guard let newest = new.last else { return false }
    received[key] = newest.number
    guard revision > formerlyRecorded else {
      recorded[key] = newest.number
      return false
    }
    for fact in new {
      last += 1
      keys[last] = (key, fact.number)
      let (device, attempt) = fact.event.subject ?? (job.job.id.device, job.job.id.attempt)
      let id = UpdateJob.ID(run: job.job.id.run, device: device, attempt: attempt)
      entries.append(
        Entry(fact: JobFact(number: last, job: id, event: fact.event), revision: revision))
    }
    return true
  }

  func facts(limit: Int) -> [JobFact] { entries.prefix(limit).map(\.fact) }

  /// Removes the facts up to `number`, because they are recorded.
  mutating func record(upTo number: Int) {
    let count = entries.prefix { $0.fact.number <= number }.count
    for entry in entries.prefix(count) {
      guard let (key, fact) = keys.removeValue(forKey: entry.fact.number) else { continue }
      recorded[key] = max(recorded[key] ?? 0, fact)
    }
    entries.removeFirst(count)
  }

  /// Returns the number of the last recorded fact in the entry of a key.
  func recorded(of key: String) -> Int { recorded[key] ?? 0 }

  /// Returns the revision of `STATE` up to which all facts of the run are recorded.
  ///
  /// - Parameter position: the last received revision.
  func recordedRevision(at position: UInt64) -> UInt64 {
    max(entries.first.map { $0.revision - 1 } ?? position, formerlyRecorded)
  }

  /// Removes the facts that a former coordinator recorded.
  mutating func resume(after revision: UInt64) {
    formerlyRecorded = max(formerlyRecorded, revision)
    let old = entries.prefix { $0.revision <= revision }
    if let last = old.last { record(upTo: last.fact.number) }
  }
}
#endif
