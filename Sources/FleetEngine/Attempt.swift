import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// One attempt on one device, which renews its claim concurrently with the update. The update ends
/// when the claim is lost or recalled.
struct Attempt: Sendable {
  /// The duration of the lease of a claim.
  static let lease = Duration.seconds(45)
  /// The renewal interval, so that two renewals may fail.
  private static let renewalInterval = lease / 3

  let claim: JobClaim
  let lane: AdapterLane
  let choices: FlashChoices
  let conditions: DeviceConditions
  let exchange: any JobExchange
  let transport: any DeviceTransport
  let environment: FleetEnvironment
  let time: RunClock
  /// The hooks of the device; `nil` = none.
  let hooks: DeviceHooks?

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
  /// - Throws: an error of the exchange, except for a lost claim, whose outcome another worker
  ///   reports.
  func run() async throws(ExchangeFault) {
    do throws(ExchangeFault) {
      let (device, attempt) = (device, claim.job.id.attempt)
      try await exchange.report(
        claim, .devicePlaced(device: device, attempt: attempt, adapter: lane.adapter))
      let ending: AttemptEnding
      do throws(DeviceHeldElsewhere) {
        ending = try await transport.holding(device) { await updateWhileClaimed() }
      } catch {
        ending = .returned(.deviceBusy)
      }
      // The outcome is reported even if this task is cancelled.
      let result = await shielded { () async -> Result<Void, ExchangeFault> in
        do throws(ExchangeFault) {
          switch ending {
          case .returned(let reason): try await exchange.release(claim, reason)
          case .updated, .current, .failed, .skipped: try await exchange.finish(claim, ending)
          }
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      try result.get()
    } catch .claimLost {
      return
    } catch {
      throw error
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
        case .claim(.lost): group.cancelAll()
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
    while await environment.clock.pause(for: Self.renewalInterval) {
      do throws(ExchangeFault) {
        let standing = try await exchange.renew(
          claim, now: time.passed, lease: Self.lease)
        if case .recalled = standing { return .recalled }
      } catch .claimLost {
        return .lost
      } catch {
        // The next renewal may succeed; after two failures the claim expires.
        continue
      }
    }
    return .kept
  }

  // MARK: The update

  /// - Parameter gone: called if a connection fails because the adapter disappeared.
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
    guard let package = environment.image(claim.job.image) else {
      return .failed(
        AttemptFailure(
          .infrastructure, code: "no-image", words: "there is no image \(claim.job.image)",
          isFinal: true, wasSeen: false))
    }
    let (device, transport, lane, environment) = (device, transport, lane, environment)
    let meter = LinkMeter(lane: lane)
    let update = FirmwareUpdate(package: package, options: options()) { event in
      meter.observe(event)
      environment.observe(device, event)
    }
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      do throws(ConnectFault) {
        return try await lane.connecting {
          () async throws(ConnectFault) -> any Link in
          try await transport.connect(to: device, at: place, on: lane.adapter)
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

  private func options() -> UpdateOptions {
    var options = UpdateOptions(
      choices, key: environment.key(device), bases: environment.bases)
    // The running image of a device that may already run the new image is compared first.
    options.sendsAnyway = options.sendsAnyway && !claim.job.verifyFirst
    let (exchange, claim, conditions) = (exchange, claim, conditions)
    options.beforeTransfer = { (device, client) async throws(UpdateFault) in
      try await conditions.check(device, over: client)
    }
    options.beforeActivation = { () async throws(UpdateFault) in
      let id = claim.job.id
      do throws(ExchangeFault) {
        try await exchange.report(
          claim, .deviceActivating(device: id.device, attempt: id.attempt))
        try await exchange.recorded()
      } catch {
        // The activation must be recorded first. The device keeps the image, and can be activated
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
    case .flashed:
      self = .updated(
        UpdateFigures(
          from: result.from, to: result.to, proof: result.proof.rawValue,
          bytes: result.bytesSent, uploadMilliseconds: result.uploadTook.wholeMilliseconds,
          resumes: result.resumes,
          made: result.delivery?.isShortened ?? false ? result.bytesMade : nil))
    }
  }
}
