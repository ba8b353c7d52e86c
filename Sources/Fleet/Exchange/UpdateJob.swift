/// One attempt on one device, offered to the workers of the device's site. The order contains
/// everything that the worker needs: a worker executes jobs of several runs, whose campaigns it
/// does not have.
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
  /// The site whose workers can reach the device; `nil` = any site.
  package let site: String?
  /// The image's digest.
  package let image: String
  /// Whether the device may already run the image. If so, the worker reads the running image before
  /// it sends anything.
  package var verifyFirst: Bool
  package let order: WorkOrder

  package init(
    id: ID, site: String? = nil, image: String, verifyFirst: Bool = false,
    order: WorkOrder = WorkOrder()
  ) {
    self.id = id
    self.site = site
    self.image = image
    self.verifyFirst = verifyFirst
    self.order = order
  }
}

/// A process with adapters that executes jobs.
package struct FleetWorker: Hashable, Sendable, Codable {
  /// The name, unique among running workers, and the same after a restart of the worker.
  package let name: String
  /// The site of the worker; `nil` = all sites.
  package let site: String?

  package init(name: String, site: String? = nil) {
    self.name = name
    self.site = site
  }
}

/// The right to work on a job until the claim expires. The claim contains no time: the exchange
/// measures the lease by its clock, and the worker measures its deadline by the worker's clock.
package struct JobClaim: Hashable, Sendable {
  package let job: UpdateJob
  package let worker: String
  /// A number that increases with each claim of the job: older claims are lost.
  package let epoch: Int

  package init(job: UpdateJob, worker: String, epoch: Int) {
    self.job = job
    self.worker = worker
    self.epoch = epoch
  }
}

/// An event of a job. The event is not recorded in its run yet.
package struct JobFact: Hashable, Sendable {
  /// The number of the fact, which increases within the run; gaps are possible.
  package let number: Int
  package let job: UpdateJob.ID
  package let event: FleetEvent

  package init(number: Int, job: UpdateJob.ID, event: FleetEvent) {
    self.number = number
    self.job = job
    self.event = event
  }
}

/// The state of a transfer, for observers. A report of this state may be lost at any time.
package struct JobProgress: Hashable, Sendable, Codable {
  package let job: UpdateJob.ID
  /// The number of acknowledged bytes.
  package let bytes: Int
  package let total: Int

  package init(job: UpdateJob.ID, bytes: Int, total: Int) {
    self.job = job
    self.bytes = bytes
    self.total = total
  }
}

/// The state of a claim.
package enum ClaimStanding: Hashable, Sendable {
  case held
  /// The coordinator cancelled the job: the worker ends the attempt at a safe point and releases
  /// the job.
  case recalled
}
