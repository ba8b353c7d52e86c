import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// One attempt on one device: the update, and the concurrent renewal of its claim. The update is
/// interrupted when the claim is lost, when the coordinator cancels the job, when the adapter
/// disappears, and at the deadline of the claim.
struct Attempt: Sendable {
  /// The interval at which calls are repeated until the exchange answers.
  private static let repetitionInterval = Duration.seconds(1)

  let claim: JobClaim
  let deadline: ClaimDeadline
  let lane: AdapterLane
  let exchange: any JobExchange
  let transport: any DeviceTransport
  let environment: FleetEnvironment
  private let conditions: DeviceConditions
  private let transfer: TransferReport

  init(
    claim: JobClaim, deadline: ClaimDeadline, lane: AdapterLane, exchange: any JobExchange,
    transport: any DeviceTransport, environment: FleetEnvironment
  ) {
    self.claim = claim
    self.deadline = deadline
    self.lane = lane
    self.exchange = exchange
    self.transport = transport
    self.environment = environment
    transfer = TransferReport(claim, exchange: exchange, clock: environment.clock)
    conditions = DeviceConditions(claim.job.order.requirements)
  }

  private var choices: FlashChoices { claim.job.order.options }

  /// The hooks of the device; `nil` = the job has no hooks.
  private var hooks: DeviceHooks? {
    claim.job.order.hooks.map {
      DeviceHooks(claim: claim, hooks: $0, exchange: exchange, runner: environment.hooks)
    }
  }

  private var device: FleetDevice.ID { claim.job.id.device }

  private enum Part: Sendable {
    case update(AttemptEnding)
    case claim(ClaimEnd)
    case adapterGone
  }

  private enum ClaimEnd: Sendable {
    /// The claim was lost, so another worker may update the device.
    case lost
    case recalled
    /// The update ended while the claim was valid.
    case kept
  }

  /// Executes the attempt, and reports its outcome to the exchange.
  ///
  /// - Throws: an error of the exchange. A lost claim and an exchange that does not answer are not
  ///   errors: another worker or attempt then reports an outcome.
  func run() async throws(ExchangeFault) {
    do throws(ExchangeFault) {
      let (device, attempt) = (device, claim.job.id.attempt)
      try await repeating { () async throws(ExchangeFault) in
        try await exchange.report(
          claim, .devicePlaced(device: device, attempt: attempt, adapter: lane.adapter))
      }
      let ending: AttemptEnding
      do throws(DeviceHeldElsewhere) {
        ending = try await transport.holding(device) { await updateWhileClaimed() }
      } catch {
        ending = .returned(.deviceBusy)
      }
      try await deliver(ending)
    } catch .claimLost {
      return
    } catch .unavailable {
      // The claim expires, and another attempt reads the device again.
      return
    } catch {
      throw error
    }
  }

  /// Reports the outcome, even if this task is cancelled, and repeats the report until the exchange
  /// confirms it or this task is cancelled. The outcome of an expired claim is also reported,
  /// because it is still a fact.
  private func deliver(_ ending: AttemptEnding) async throws(ExchangeFault) {
    while true {
      let result = await shielded { () async -> Result<Void, ExchangeFault> in
        do throws(ExchangeFault) {
          try await transfer.report()
          switch ending {
          case .returned(let reason): try await exchange.release(claim, reason)
          case .updated, .current, .failed, .skipped: try await exchange.finish(claim, ending)
          }
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      do throws(ExchangeFault) { return try result.get() } catch .unavailable {
        guard await environment.clock.pause(for: Self.repetitionInterval) else { return }
      } catch {
        throw error
      }
    }
  }

  /// Repeats a call until the exchange answers, the deadline has passed, or the task is cancelled.
  private func repeating(
    _ body: () async throws(ExchangeFault) -> Void
  ) async throws(ExchangeFault) {
    while true {
      do throws(ExchangeFault) { return try await body() } catch {
        guard case .unavailable = error, !deadline.hasPassed,
          await environment.clock.pause(for: Self.repetitionInterval)
        else { throw error }
      }
    }
  }

  private func updateWhileClaimed() async -> AttemptEnding {
    let gone = AsyncStream.makeStream(of: Void.self)
    return await withTaskGroup(of: Part.self) { group in
      group.addTask { .update(await updateBetweenHooks(gone.continuation)) }
      group.addTask {
        for await _ in gone.stream { return .adapterGone }
        return .claim(.kept)
      }
      group.addTask { .claim(await keepClaim()) }
      group.addTask { .claim(await untilDeadline()) }
      var ending = AttemptEnding.returned(.stopping)
      var interruption = ReturnReason.stopping
      for await part in group {
        switch part {
        case .update(let ended):
          ending = ended
          group.cancelAll()
        case .claim(.recalled):
          interruption = .recalled
          group.cancelAll()
        case .claim(.lost):
          // The claim may still be valid if the exchange answers again: the job is then returned.
          interruption = .claimLost
          group.cancelAll()
        case .adapterGone:
          // The adapter may return much later, so the job is returned for another worker.
          interruption = .adapterLost
          group.cancelAll()
        case .claim(.kept): break
        }
      }
      guard case .returned(.stopping) = ending else { return ending }
      return .returned(interruption)
    }
  }

  private func keepClaim() async -> ClaimEnd {
    while await environment.clock.pause(for: ClaimDeadline.renewalInterval) {
      do throws(ExchangeFault) {
        if case .recalled = try await deadline.renew(claim, on: exchange) { return .recalled }
      } catch {
        return .lost
      }
    }
    return .kept
  }

  /// Waits for the deadline, whether or not the exchange answers.
  private func untilDeadline() async -> ClaimEnd {
    while !deadline.hasPassed {
      guard await environment.clock.pause(for: deadline.remaining) else { return .kept }
    }
    return .lost
  }

  // MARK: The update

  /// - Parameter gone: receives a value if a connection fails because the adapter disappeared.
  private func updateBetweenHooks(
    _ gone: AsyncStream<Void>.Continuation
  ) async -> AttemptEnding {
    guard let hooks else { return await update(gone) }
    do throws(ExchangeFault) {
      if let ending = try await hooks.before() { return ending }
    } catch {
      // A step that cannot be recorded must not be executed.
      return .returned(.stopping)
    }
    let ending = await update(gone)
    if case .skipped = ending { return ending }
    do throws(ExchangeFault) { return try await hooks.after(ending) } catch { return ending }
  }

  private func update(_ gone: AsyncStream<Void>.Continuation) async -> AttemptEnding {
    let package: FirmwarePackage
    switch await image() {
    case .success(let found): package = found
    case .failure(let failure): return .failed(failure)
    }
    if claim.job.order.key != nil, key == nil {
      return .failed(
        AttemptFailure(
          .infrastructure, code: "no-key",
          words: "the key of the device is not encrypted for this worker", wasSeen: false))
    }
    let (device, transport, lane, environment) = (device, transport, lane, environment)
    let transfer = transfer
    let meter = LinkMeter(lane: lane)
    let update = FirmwareUpdate(package: package, options: options()) { event in
      meter.observe(event)
      transfer.observe(event)
      environment.observe(device, event)
    }
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      do throws(ConnectFault) {
        return try await lane.connecting {
          () async throws(ConnectFault) -> any Link in
          guard !deadline.hasPassed else { throw .cancelled }
          let link = try await transport.connect(to: device, at: place, on: lane.adapter)
          return ClaimedLink(link, until: deadline)
        }
      } catch {
        if case .adapterUnavailable = error {
          lane.failed()
          gone.yield()
        }
        throw error
      }
    })
    do throws(UpdateFault) {
      let result = try await withPeripheral(dialer, clock: environment.clock) {
        (peripheral) async throws(UpdateFault) -> UpdateResult in
        do throws(QueueFault<UpdateFault>) {
          return try await peripheral.perform(update.command.timeLimit(choices.attemptLimit))
        } catch {
          if case .failed(let fault) = error { throw fault }
          throw .cancelled(resumable: false, acknowledged: 0)
        }
      }
      return AttemptEnding(result)
    } catch {
      if let refusal = conditions.refusal { return .skipped(words: refusal) }
      return AttemptEnding(error, interruption: .stopping)
    }
  }

  private func image() async -> Result<FirmwarePackage, AttemptFailure> {
    let digest = claim.job.image
    guard let fetch = environment.fetchImage else {
      return environment.image(digest).map { .success($0) }
        ?? .failure(
          AttemptFailure(
            .infrastructure, code: "no-image", words: "there is no image \(digest)", isFinal: true,
            wasSeen: false))
    }
    do throws(ImageUnavailable) { return .success(try await fetch(digest)) } catch {
      return .failure(
        AttemptFailure(.infrastructure, code: "no-image", words: error.words, wasSeen: false))
    }
  }

  /// The key of the device, from the job or from this host; `nil` = the device has no key, or this
  /// worker cannot decrypt it.
  private var key: [UInt8]? {
    claim.job.order.key.flatMap { environment.unseal($0, claim.job.id) } ?? environment.key(device)
  }

  private func options() -> UpdateOptions {
    var options = UpdateOptions(choices, key: key, bases: environment.bases)
    // The running image of a device that may already run the new image is compared first.
    options.sendsAnyway = options.sendsAnyway && !claim.job.verifyFirst
    let (exchange, claim, conditions, transfer) = (exchange, claim, conditions, transfer)
    options.beforeTransfer = { (device, client) async throws(UpdateFault) in
      try await conditions.check(device, over: client)
    }
    options.beforeActivation = { () async throws(UpdateFault) in
      let id = claim.job.id
      do throws(ExchangeFault) {
        try await repeating { () async throws(ExchangeFault) in
          try await transfer.report()
          try await exchange.report(
            claim, .deviceActivating(device: id.device, attempt: id.attempt))
          try await exchange.recorded(claim)
        }
      } catch {
        // The activation must be recorded first. The device keeps the image, which can be activated
        // later.
        throw .cancelled(resumable: true, acknowledged: 0)
      }
    }
    return options
  }
}

extension AttemptEnding {
  fileprivate init(_ result: UpdateResult) {
    switch result.outcome {
    case .alreadyCurrent, .wouldFlash: self = .current(version: result.to)
    case .flashed, .restarted:
      self = .updated(
        UpdateFigures(
          from: result.from, to: result.to, proof: result.proof.rawValue,
          bytes: result.bytesSent, uploadMilliseconds: result.uploadTook.wholeMilliseconds,
          resumes: result.resumes,
          made: result.delivery?.isShortened ?? false ? result.bytesMade : nil))
    }
  }
}
