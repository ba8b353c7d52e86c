/// One attempt on one device, as it is given to whoever can reach the device.
package struct FleetJob: Hashable, Sendable, Codable {
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
  package internal(set) var look: Bool

  package init(id: ID, site: String? = nil, image: String, look: Bool = false) {
    self.id = id
    self.site = site
    self.image = image
    self.look = look
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
  package let job: FleetJob
  package let worker: String
  /// Grows each time the job is claimed: whoever has an older one has lost it.
  package let epoch: Int
  package let until: FleetTime

  package init(job: FleetJob, worker: String, epoch: Int, until: FleetTime) {
    self.job = job
    self.worker = worker
    self.epoch = epoch
    self.until = until
  }
}

/// What a worker tells of a job before its end, because the next one must know it.
package enum JobReport: Hashable, Sendable, Codable {
  case placed(adapter: String)
  /// The device is about to be told to start the image.
  case activating
  /// A hook of the device has run.
  case hookEnded(HookPoint, HookOutcome)
}

/// What happened to a job, for the coordinator.
package struct JobNews: Hashable, Sendable {
  package enum Fact: Hashable, Sendable, Codable {
    case claimed(worker: String)
    case reported(JobReport)
    case expired
    case ended(AttemptEnding)
  }

  /// 1, 2, …, without gaps, in an exchange.
  package let number: Int
  package let job: FleetJob.ID
  package let fact: Fact

  package init(number: Int, job: FleetJob.ID, fact: Fact) {
    self.number = number
    self.job = job
    self.fact = fact
  }
}

/// Whether a claim still stands.
package enum ClaimStanding: Hashable, Sendable {
  case held(until: FleetTime)
  /// The coordinator wants the job back: end at a safe point, and release it.
  case recalled(until: FleetTime)
}

package enum ExchangeFault: Error, Hashable, Sendable {
  /// The claim was lost: its time ran out and another may work on the device. Nothing more may be
  /// sent to it.
  case claimLost(FleetJob.ID)
  /// Another job of the device is open.
  case deviceTaken(by: FleetJob.ID)
  case unknownBlob(digest: String)
  /// What keeps the jobs failed.
  case storage(StorageFault)
}

/// Why something that must last could not be kept or read.
package struct StorageFault: Error, Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case full, readOnly, locked, newerVersion, damaged
    /// The file can be read, and what it says cannot be: another hand changed it.
    case unsound
    case system
  }

  package let kind: Kind
  /// What happened: a clause.
  package let words: String

  package init(_ kind: Kind, _ words: String) {
    self.kind = kind
    self.words = words
  }
}

extension StorageFault: CustomStringConvertible {
  package var description: String { words }
}

extension ExchangeFault: CustomStringConvertible {
  /// What happened: a clause.
  package var description: String {
    switch self {
    case .claimLost(let job): "the right to work on \(job.device) was lost"
    case .deviceTaken(let job): "attempt \(job.attempt) on \(job.device) is not over"
    case .unknownBlob(let digest): "there is no image \(digest)"
    case .storage(let fault): fault.words
    }
  }
}

/// Between the one who decides (the coordinator, which follows `FleetRules`) and those who have
/// radios. Nothing is promised but this: what a call has returned is kept; one job of a device is
/// open at a time; a claim holds until its time and no longer; a finished job stays finished. News
/// may come late and twice, and a claim may be lost at any moment.
///
/// A local store implements it, and so can a message broker: nothing here says that a radio is
/// near.
package protocol JobExchange: Sendable {
  /// Offers jobs, in this order. One that was published before is left as it is.
  ///
  /// - Returns: those that had ended before this call. Their ends are in the news, read or not yet.
  /// - Throws: `.deviceTaken`; then none of the jobs was published.
  @discardableResult
  func publish(_ jobs: [FleetJob]) async throws(ExchangeFault) -> [FleetJob.ID]

  /// The job that has waited longest for a worker of this place, or `nil`.
  func claim(
    for worker: FleetWorker, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim?

  /// Makes a claim hold for `lease` from `now` on.
  ///
  /// - Throws: `.claimLost`.
  func renew(
    _ claim: JobClaim, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding

  /// Keeps what the next worker must know, before it is done.
  ///
  /// - Throws: `.claimLost`; then it must not be done.
  func report(_ claim: JobClaim, _ report: JobReport) async throws(ExchangeFault)

  /// Ends the job with what became of the attempt.
  ///
  /// - Throws: `.claimLost`; the outcome then is another's to tell.
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault)

  /// Gives the job back. Of a claim that was lost there is nothing to give back, and that is fine.
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault)

  /// Takes jobs back: those that wait end at once, those that are worked on when their worker
  /// renews next.
  func cancel(_ jobs: [FleetJob.ID]) async throws(ExchangeFault)

  /// Keeps an image for the workers, under its digest.
  func keep(blob: [UInt8], digest: String) async throws(ExchangeFault)

  /// The image with this digest.
  func blob(_ digest: String) async throws(ExchangeFault) -> [UInt8]

  /// What has happened since news `number`, the oldest first, `limit` at most. Claims whose time
  /// has run out by `now` are among it.
  func news(
    after number: Int, now: FleetTime, limit: Int
  ) async throws(ExchangeFault) -> [JobNews]
}
