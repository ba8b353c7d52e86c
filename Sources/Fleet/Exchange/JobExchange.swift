/// One attempt on one device, as it is given to whoever can reach the device.
package struct UpdateJob: Hashable, Sendable, Codable {
  /// The same attempt has the same name, however often it is published.
  package struct ID: Hashable, Sendable, Codable {
    package let run: String
    package let device: FleetDevice.ID
    package let attempt: Int

    package init(run: String, device: FleetDevice.ID, attempt: Int) {
      self.run = run
      self.device = device
      self.attempt = attempt
    }
  }

  package let id: ID
  /// Only workers of this place can reach the device; `nil` = any.
  package let site: String?
  /// The image's digest.
  package let image: String
  /// The device may run the image already: it is asked before anything is sent.
  package internal(set) var verifyFirst: Bool

  package init(id: ID, site: String? = nil, image: String, verifyFirst: Bool = false) {
    self.id = id
    self.site = site
    self.image = image
    self.verifyFirst = verifyFirst
  }
}

/// Somebody with adapters who carries out jobs.
package struct FleetWorker: Hashable, Sendable {
  /// Unique among those that live.
  package let name: String
  /// Where it stands; `nil` = it reaches devices of every place.
  package let site: String?

  package init(name: String, site: String? = nil) {
    self.name = name
    self.site = site
  }
}

/// The right to work on a job, for a while.
package struct JobClaim: Hashable, Sendable {
  package let job: UpdateJob
  package let worker: String
  /// Grows each time the job is claimed: whoever has an older one has lost it.
  package let epoch: Int
  package let until: WallClockTime

  package init(job: UpdateJob, worker: String, epoch: Int, until: WallClockTime) {
    self.job = job
    self.worker = worker
    self.epoch = epoch
    self.until = until
  }
}

/// What happened to a job: an event of its run that is not recorded yet.
package struct JobFact: Hashable, Sendable {
  /// 1, 2, …, without gaps, in an exchange.
  package let number: Int
  package let job: UpdateJob.ID
  package let event: FleetEvent

  package init(number: Int, job: UpdateJob.ID, event: FleetEvent) {
    self.number = number
    self.job = job
    self.event = event
  }
}

/// Whether a claim still stands.
package enum ClaimStanding: Hashable, Sendable {
  case held(until: WallClockTime)
  /// The coordinator wants the job back: end at a safe point, and release it.
  case recalled(until: WallClockTime)
}

package enum ExchangeFault: Error, Hashable, Sendable {
  /// The claim was lost: its time ran out and another may work on the device. Nothing more may be
  /// sent to it.
  case claimLost(UpdateJob.ID)
  /// Another job of the device is open.
  case deviceTaken(by: UpdateJob.ID)
  /// The coordinator has ended, and records nothing more.
  case notRecorded
  /// What keeps the jobs failed.
  case storage(StorageFault)
}

/// Why something that must last could not be kept or read.
public struct StorageFault: Error, Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case full, readOnly, locked, newerVersion, damaged
    /// The file can be read, and what it says cannot be: another hand changed it.
    case unsound
    case system
  }

  public let kind: Kind
  /// What happened: a clause.
  public let words: String

  public init(_ kind: Kind, _ words: String) {
    self.kind = kind
    self.words = words
  }
}

extension StorageFault: CustomStringConvertible {
  public var description: String { words }
}

extension ExchangeFault: CustomStringConvertible {
  /// What happened: a clause.
  package var description: String {
    switch self {
    case .claimLost(let job): "the right to work on \(job.device) was lost"
    case .deviceTaken(let job): "attempt \(job.attempt) on \(job.device) is not over"
    case .notRecorded: "the coordinator records nothing more"
    case .storage(let fault): fault.words
    }
  }
}

/// Between the coordinator, which follows `FleetRules`, and the workers, which have radios. Workers
/// report facts; the coordinator alone records them as events of the run. One job of a device is
/// open at a time; a claim holds until its time and no longer; a finished job stays finished. A
/// claim may be lost at any moment, and a fact may come late and twice.
///
/// `MemoryExchange` is for workers in the coordinator's process; a message broker can implement the
/// same for workers of other sites: nothing here says that a radio is near.
package protocol JobExchange: Sendable {
  /// Offers jobs, in this order. One that was published before is left as it is.
  ///
  /// - Throws: `.deviceTaken`; then none of the jobs was published.
  func publish(_ jobs: [UpdateJob]) async throws(ExchangeFault)

  /// The job that has waited longest for a worker of this place, or `nil`.
  func claim(
    for worker: FleetWorker, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim?

  /// Makes a claim hold for `lease` from `now` on.
  ///
  /// - Throws: `.claimLost`.
  func renew(
    _ claim: JobClaim, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding

  /// Reports an event of the job before its end.
  ///
  /// - Throws: `.claimLost`.
  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault)

  /// Waits until all that was reported is recorded: what the next worker must know is recorded
  /// before it is done.
  ///
  /// - Throws: `.notRecorded`; then it must not be done.
  func recorded() async throws(ExchangeFault)

  /// Ends the job with the outcome of the attempt.
  ///
  /// - Throws: `.claimLost`; then the outcome is reported by another worker.
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault)

  /// Gives the job back. Of a claim that was lost there is nothing to give back, and that is fine.
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault)

  /// Takes jobs back: those that wait end at once, those that are worked on when their worker
  /// renews next.
  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault)

  /// The facts after fact `number`, the oldest first, `limit` at most. Facts up to `number` are
  /// recorded. Claims whose time has run out by `now` are among the facts.
  func facts(
    after number: Int, now: WallClockTime, limit: Int
  ) async throws(ExchangeFault) -> [JobFact]

  /// Waits until there is a fact after fact `number`, or the task is cancelled.
  func arrival(after number: Int) async

  /// The coordinator records nothing more.
  func close()
}
