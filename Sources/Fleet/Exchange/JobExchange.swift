/// One attempt on one device, offered to workers in range of the device.
package struct UpdateJob: Hashable, Sendable, Codable {
  /// The id of an attempt, equal for each publication of the attempt.
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
  /// The site whose workers can reach the device; `nil` = any.
  package let site: String?
  /// The image's digest.
  package let image: String
  /// Whether the device may already run the image: the worker reads it before it sends anything.
  package internal(set) var verifyFirst: Bool

  package init(id: ID, site: String? = nil, image: String, verifyFirst: Bool = false) {
    self.id = id
    self.site = site
    self.image = image
    self.verifyFirst = verifyFirst
  }
}

/// A process with adapters that executes jobs.
package struct FleetWorker: Hashable, Sendable {
  /// The name, unique among running workers.
  package let name: String
  /// The site of the worker; `nil` = all sites.
  package let site: String?

  package init(name: String, site: String? = nil) {
    self.name = name
    self.site = site
  }
}

/// The right to work on a job until the claim expires.
package struct JobClaim: Hashable, Sendable {
  package let job: UpdateJob
  package let worker: String
  /// A number that increases with each claim of the job: older claims are lost.
  package let epoch: Int
  package let until: WallClockTime

  package init(job: UpdateJob, worker: String, epoch: Int, until: WallClockTime) {
    self.job = job
    self.worker = worker
    self.epoch = epoch
    self.until = until
  }
}

/// An event of a job that is not recorded in its run yet.
package struct JobFact: Hashable, Sendable {
  /// 1, 2, …, without gaps in an exchange.
  package let number: Int
  package let job: UpdateJob.ID
  package let event: FleetEvent

  package init(number: Int, job: UpdateJob.ID, event: FleetEvent) {
    self.number = number
    self.job = job
    self.event = event
  }
}

/// The state of a claim.
package enum ClaimStanding: Hashable, Sendable {
  case held(until: WallClockTime)
  /// The coordinator recalled the job: the worker ends it at a safe point and releases it.
  case recalled(until: WallClockTime)
}

package enum ExchangeFault: Error, Hashable, Sendable {
  /// The claim expired, and another worker may update the device. The worker must not send anything
  /// to the device.
  case claimLost(UpdateJob.ID)
  /// Another job of the device is open.
  case deviceTaken(by: UpdateJob.ID)
  /// The coordinator has ended and records no more facts.
  case notRecorded
  /// The storage of the jobs failed.
  case storage(StorageFault)
}

/// The reason why durable data could not be written or read.
public struct StorageFault: Error, Hashable, Sendable {
  /// The kind of a fault.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The disk is full.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// Another process has locked the file.
    case locked
    /// A newer version of otaflash wrote the file.
    case newerVersion
    /// The file is damaged.
    case damaged
    /// The file is readable, but its content is invalid: another program changed it.
    case unsound
    /// Another error of the system.
    case system
  }

  /// The kind of the fault.
  public let kind: Kind
  /// The fault, as a clause.
  public let words: String

  /// Creates a fault.
  public init(_ kind: Kind, _ words: String) {
    self.kind = kind
    self.words = words
  }
}

extension StorageFault: CustomStringConvertible {
  /// The fault, as a clause.
  public var description: String { words }
}

extension ExchangeFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .claimLost(let job): "the claim on \(job.device) was lost"
    case .deviceTaken(let job): "attempt \(job.attempt) on \(job.device) has not ended"
    case .notRecorded: "the coordinator has ended"
    case .storage(let fault): fault.words
    }
  }
}

/// The interface between the coordinator, which follows `FleetRules`, and the workers, which have
/// adapters. Workers report facts; only the coordinator records them as events of the run. A device
/// has at most one open job; a claim ends when its lease expires; a finished job stays finished. A
/// claim may be lost at any time, and a fact may arrive late or twice.
///
/// `MemoryExchange` is for workers in the coordinator's process. A message broker can implement the
/// protocol for workers of other sites.
package protocol JobExchange: Sendable {
  /// Offers jobs, in this order. A job that was already published stays unchanged.
  ///
  /// - Throws: `.deviceTaken`; then none of the jobs was published.
  func publish(_ jobs: [UpdateJob]) async throws(ExchangeFault)

  /// Returns the job that has waited longest for a worker of this site, or `nil`.
  func claim(
    for worker: FleetWorker, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim?

  /// Extends a claim to `lease` from `now`.
  ///
  /// - Throws: `.claimLost`.
  func renew(
    _ claim: JobClaim, now: WallClockTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding

  /// Reports an event of the job before its end.
  ///
  /// - Throws: `.claimLost`.
  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault)

  /// Waits until all reported facts are recorded, so that the next worker knows about the following
  /// step.
  ///
  /// - Throws: `.notRecorded`; then the worker must not take the step.
  func recorded() async throws(ExchangeFault)

  /// Ends the job with the outcome of the attempt.
  ///
  /// - Throws: `.claimLost`; then the outcome is reported by another worker.
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault)

  /// Returns the job. A lost claim is ignored.
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault)

  /// Recalls jobs: waiting jobs end immediately, claimed jobs at the next renewal by their worker.
  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault)

  /// Returns at most `limit` facts after fact `number`, the oldest first. Facts up to `number` are
  /// recorded. Claims that expired by `now` are among the facts.
  func facts(
    after number: Int, now: WallClockTime, limit: Int
  ) async throws(ExchangeFault) -> [JobFact]

  /// Waits for a fact after fact `number`, or for cancellation of the task.
  func arrival(after number: Int) async

  /// Declares that the coordinator records no more facts.
  func close()
}
