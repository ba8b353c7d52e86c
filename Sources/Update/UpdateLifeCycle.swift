import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The one life cycle of every protocol. Resume is a rerun: each connection begins by asking the
/// device where it stands, so a lost link leads back to the first step.
struct UpdateLifeCycle<Session: UpdateSession>: Sendable {
  /// Times that a whole image whose CRC32 differs in the device's flash is sent again.
  private static var imageRepeatsMaximum: Int { 1 }
  /// Times that a device may want a part again after it had everything.
  private static var verdictsMaximum: Int { 4 }
  /// Times that ACTIVATE is sent again because its answer was lost and the old version runs.
  private static var unansweredActivationsMaximum: Int { 3 }
  /// Between two looks for a device that is restarting.
  private static var rebootPoll: Duration { .milliseconds(250) }

  /// How one connection's work ended.
  private enum Progress {
    case alreadyCurrent(RunningImage)
    case wouldFlash
    /// The device agreed to restart into the image, or may have: the answer was lost.
    case activated(answered: Bool)
  }

  let image: FirmwareImage
  let turn: PeripheralTurn
  let context: UpdateContext
  private let started: LinkInstant

  init(image: FirmwareImage, turn: PeripheralTurn, context: UpdateContext) {
    self.image = image
    self.turn = turn
    self.context = context
    started = context.clock.now
  }

  func run() async throws(UpdateFault) -> UpdateResult {
    var from: FirmwareVersion?
    let result: UpdateResult
    switch try await activateAndProve(from: &from) {
    case .wouldFlash:
      result = report(.wouldFlash, from: from, to: image.version, verified: false)
    case .alreadyCurrent(let running):
      result = report(.alreadyCurrent, from: from, to: running.version, verified: true)
    case .proven(let running):
      result = report(.flashed, from: from, to: running.version, verified: true)
    }
    turn.disconnect()
    context.observe(.finished(result))
    return result
  }

  private enum Ending {
    case wouldFlash
    case alreadyCurrent(RunningImage)
    case proven(RunningImage)
  }

  private func activateAndProve(
    from version: inout FirmwareVersion?
  ) async throws(UpdateFault) -> Ending {
    var unansweredActivations = 0
    while true {
      switch try await transferUntilActivated(from: &version) {
      case .wouldFlash: return .wouldFlash
      case .alreadyCurrent(let running): return .alreadyCurrent(running)
      case .activated(let answered):
        if !answered { unansweredActivations += 1 }
        do throws(UpdateFault) {
          return .proven(try await prove())
        } catch .oldVersionStillRuns(let running) {
          // ACTIVATE may never have arrived. What the device holds is whole; it is asked again.
          guard !answered, unansweredActivations <= Self.unansweredActivationsMaximum else {
            throw .oldVersionStillRuns(running: running)
          }
        }
      }
    }
  }

  // MARK: Until activation

  private func transferUntilActivated(
    from version: inout FirmwareVersion?
  ) async throws(UpdateFault) -> Progress {
    var attempt = 0
    var imageRepeats = 0
    var restart = context.options.restart
    var acknowledgedBefore = 0
    var wasConnected = false
    while true {
      var stage = UpdateStage.connect
      var session: Session?
      do throws(UpdateFault) {
        let opened = try await openSession(attempt: attempt + 1)
        session = opened
        wasConnected = true
        version = opened.device.runningVersion
        return try await transfer(over: opened, restart: restart, stage: &stage)
      } catch .imageRejected(let expected, let found) {
        guard imageRepeats < Self.imageRepeatsMaximum else {
          throw .imageRejected(expectedCRC32: expected, deviceCRC32: found)
        }
        imageRepeats += 1
        restart = true
        turn.disconnect()
      } catch {
        let fault = attributed(error, stage)
        guard let loss = fault.linkLoss(afterConnecting: wasConnected) else {
          throw await farewell(fault, session)
        }
        // A device whose answer to ACTIVATE was lost may be restarting: the proof will tell.
        if stage == .activate { return .activated(answered: false) }
        let acknowledged = context.tally.now.acknowledged
        if acknowledged > acknowledgedBefore { attempt = 0 }
        acknowledgedBefore = acknowledged
        attempt += 1
        // What was held is now wanted: a restart was carried out by the first connection.
        if stage == .upload || stage == .verify { restart = false }
        try await backOff(loss, attempt, fault)
      }
    }
  }

  /// One connection's work, top to bottom.
  private func transfer(
    over session: Session, restart: Bool, stage: inout UpdateStage
  ) async throws(UpdateFault) -> Progress {
    context.observe(.device(session.device))
    stage = .prepare
    let plan: UpdatePlan
    switch try Preflight.check(image, against: session.device, options: context.options) {
    case .alreadyCurrent:
      try await authorize(session, stage: &stage)
      let running = try await confirmIfOnTrial(try await session.running(), session)
      return .alreadyCurrent(running)
    case .send(let checked):
      plan = checked
    }
    if context.options.dryRun { return .wouldFlash }
    try await authorize(session, stage: &stage)
    stage = .prepare
    let offset = try await within(.prepare) { () async throws(UpdateFault) -> Int in
      try await session.prepare(plan, restart: restart)
    }
    context.tally.acknowledge(offset)
    if offset > 0 { context.tally.resume() }
    context.observe(
      .transferBegan(offset: offset, total: image.bytes.count, resumed: offset > 0))
    try await sendAndVerify(from: offset, over: session, stage: &stage)
    stage = .activate
    try await within(.activate) { () async throws(UpdateFault) in try await session.activate() }
    return .activated(answered: true)
  }

  private func sendAndVerify(
    from start: Int, over session: Session, stage: inout UpdateStage
  ) async throws(UpdateFault) {
    var offset = start
    for _ in 0...Self.verdictsMaximum {
      stage = .upload
      try await upload(from: offset, over: session)
      stage = .verify
      let verdict = try await within(.verify) { () async throws(UpdateFault) -> UpdateVerdict in
        try await session.verify(image)
      }
      guard case .wanted(let from) = verdict else { return }
      context.observe(.rewound(to: from, because: .gap))
      offset = from
    }
    throw .noProgress(atOffset: offset, repeats: Self.verdictsMaximum)
  }

  private func upload(from offset: Int, over session: Session) async throws(UpdateFault) {
    let began = context.clock.now
    defer { context.tally.upload(took: began.duration(to: context.clock.now)) }
    let prefixes = PrefixChecksums(image.bytes)
    try await within(.upload) { () async throws(UpdateFault) in
      try await session.upload(prefixes, from: offset)
    }
  }

  private func authorize(
    _ session: Session, stage: inout UpdateStage
  ) async throws(UpdateFault) {
    guard session.device.needsAuthorization, let key = context.options.key else { return }
    stage = .authorize
    try await within(.authorize) { () async throws(UpdateFault) in
      try await session.authorize(with: key)
    }
  }

  // MARK: Connections

  private func openSession(attempt: Int) async throws(UpdateFault) -> Session {
    context.observe(.connecting(attempt: attempt))
    return try await within(.connect) { () async throws(UpdateFault) -> Session in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch {
        throw .couldNotConnect(error)
      }
      do throws(GATTFault) { _ = try await client.requestMTU(context.options.mtu) } catch {
        throw .gatt(.connect, error)
      }
      let facts = client.linkFacts
      context.observe(
        .connected(
          LinkReport(
            mtu: client.mtu, phy: facts.phy?.rawValue,
            intervalMilliseconds: facts.connectionInterval.map { $0 / .milliseconds(1) })))
      return try await Session.open(on: client, context)
    }
  }

  private func backOff(
    _ loss: LinkLoss, _ attempt: Int, _ fault: UpdateFault
  ) async throws(UpdateFault) {
    turn.disconnect()
    let random = context.options.random()
    guard let delay = context.options.reconnection.delay(beforeAttempt: attempt, random: random)
    else { throw fault }
    let acknowledged = context.tally.now.acknowledged
    context.observe(
      .linkLost(
        reason: "\(loss)", acknowledged: acknowledged, attempt: attempt, retryIn: delay))
    guard await context.clock.pause(for: delay) else {
      throw .cancelled(resumable: acknowledged > 0, acknowledged: acknowledged)
    }
  }

  /// A fault of the link or of cancellation, with what the tally knows.
  private func attributed(_ fault: UpdateFault, _ stage: UpdateStage) -> UpdateFault {
    let acknowledged = context.tally.now.acknowledged
    switch fault {
    case .gatt(let stage, .linkLost(let loss)):
      return .linkLost(
        loss, stage, resumable: acknowledged > 0, acknowledged: acknowledged)
    case .gatt(_, .cancelled), .couldNotConnect(.cancelled), .linkLost(.cancelled, _, _, _):
      return .cancelled(resumable: acknowledged > 0, acknowledged: acknowledged)
    default:
      return fault
    }
  }

  /// Tells the device before leaving, within a bound, even when cancelled.
  private func farewell(_ fault: UpdateFault, _ session: Session?) async -> UpdateFault {
    let clock = context.clock
    let limit = context.options.farewellLimit
    if case .cancelled = fault, let session {
      await shielded {
        do throws(UpdateFault) {
          let deadline = clock.now.advanced(by: limit)
          try await withDeadline(deadline, on: clock, orThrow: fault) {
            () async throws(UpdateFault) in try await session.abandon()
          }
        } catch {
          // The device could not be told; it keeps its resume point all the same.
        }
      }
    }
    turn.disconnect()
    return fault
  }

  // MARK: After activation

  /// Waits for the restart and reads what runs: only that is success.
  private func prove() async throws(UpdateFault) -> RunningImage {
    let running = try await within(.reconnect) { () async throws(UpdateFault) -> RunningImage in
      await turn.waitUntilLost(within: context.options.rebootLimit / 4)
      turn.disconnect()
      return try await readAfterRestart()
    }
    guard running.isImage(image) else {
      if running.outcome == .rejected { throw .reverted(running: running.version) }
      if running.version == image.version { throw .differentImageRuns(running: running.version) }
      throw .oldVersionStillRuns(running: running.version)
    }
    return running
  }

  private func readAfterRestart() async throws(UpdateFault) -> RunningImage {
    let deadline = context.clock.now.advanced(by: context.options.rebootLimit)
    var loss = LinkLoss.supervisionTimeout
    var attempt = 0
    while context.clock.now < deadline {
      attempt += 1
      do throws(UpdateFault) {
        return try await readOnce(attempt, before: deadline)
      } catch {
        let fault = attributed(error, .reconnect)
        guard let found = fault.linkLoss(afterConnecting: true) else { throw fault }
        loss = found
      }
      turn.disconnect()
      guard await context.clock.pause(for: Self.rebootPoll) else {
        throw .cancelled(resumable: false, acknowledged: image.bytes.count)
      }
    }
    throw .unreachableAfterActivation(loss)
  }

  private func readOnce(
    _ attempt: Int, before deadline: LinkInstant
  ) async throws(UpdateFault) -> RunningImage {
    try await withDeadline(
      deadline, on: context.clock, orThrow: .unreachableAfterActivation(.supervisionTimeout)
    ) { () async throws(UpdateFault) -> RunningImage in
      let session = try await openSession(attempt: attempt)
      var stage = UpdateStage.reconnect
      try await authorize(session, stage: &stage)
      let running = try await session.running()
      return running.isImage(image) ? try await confirmIfOnTrial(running, session) : running
    }
  }

  private func confirmIfOnTrial(
    _ running: RunningImage, _ session: Session
  ) async throws(UpdateFault) -> RunningImage {
    guard running.onTrial else { return running }
    return try await within(.confirm) { () async throws(UpdateFault) -> RunningImage in
      try await session.confirm()
      let confirmed = try await session.running()
      guard !confirmed.onTrial else {
        throw .protocolViolation(.confirm, "it confirmed the image and still has it on trial")
      }
      return confirmed
    }
  }

  // MARK: Reporting

  private func within<Value: Sendable>(
    _ stage: UpdateStage, _ body: () async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    context.observe(.stageBegan(stage))
    let began = context.clock.now
    let value = try await body()
    context.observe(.stageEnded(stage, took: began.duration(to: context.clock.now)))
    return value
  }

  private func report(
    _ outcome: UpdateResult.Outcome, from: FirmwareVersion?, to: FirmwareVersion?, verified: Bool
  ) -> UpdateResult {
    let tally = context.tally.now
    return UpdateResult(
      outcome: outcome, from: from, to: to, verified: verified,
      took: started.duration(to: context.clock.now), octetsSent: tally.octetsSent,
      uploadTook: tally.uploadTook, resumes: tally.resumes)
  }
}

extension UpdateFault {
  /// ENODEV.
  private static let noSuchDevice: Int32 = 19

  /// The loss behind a fault that another connection may cure, else `nil`.
  ///
  /// - Parameter afterConnecting: the device was reached before, so silence now is a loss too.
  func linkLoss(afterConnecting: Bool) -> LinkLoss? {
    switch self {
    case .linkLost(let loss, _, _, _) where loss != .cancelled: loss
    case .couldNotConnect(.lostWhileConnecting(let loss)): loss
    case .gatt(_, .transactionTimedOut) where afterConnecting,
      .couldNotConnect(.deviceNotFound) where afterConnecting:
      .supervisionTimeout
    // An adapter that is reset, or whose computer was asleep, comes back.
    case .couldNotConnect(.adapterUnavailable(let cause, _)) where afterConnecting:
      .failed(errno: Self.noSuchDevice, reason: cause)
    default: nil
    }
  }
}
