import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The one life cycle of every protocol: detach, transfer, activate, reconnect, verify, confirm.
/// Resume is a rerun: each connection begins by asking the device where it stands, so a lost link
/// leads back to the first step.
struct UpdateLifeCycle: Sendable {
  /// Times that a whole image whose CRC32 differs in the device's flash is sent again.
  private static let imageRepeatsMaximum = 1
  /// Times that a device may want a part again after it had everything.
  private static let verdictsMaximum = 4
  /// Times that ACTIVATE is sent again because its answer was lost and the old version runs.
  private static let unansweredActivationsMaximum = 3
  /// Times that a device is sent to its bootloader: a transfer that has to begin anew may lead
  /// through the application each time.
  private static let detachmentsMaximum = 8

  /// How one connection's work ended.
  private enum ConnectionOutcome {
    case alreadyCurrent(RunningImage)
    case wouldFlash
    /// The device went to its bootloader, or may have: that is where to look first.
    case detached(to: [DeviceLocation])
    /// The device agreed to restart into the image, or may have: the answer was lost.
    case activated(Activation)
  }

  private struct Activation {
    let isAnswered: Bool
    /// Where the device may be then.
    let places: [DeviceLocation]
    /// How much longer than `UpdateOptions.rebootLimit` its bootloader may take.
    let startTime: Duration
    /// All that it holds was sent now, or compared.
    let isProven: Bool
  }

  /// What one restart makes run: sent on one connection, one after the other. At least one.
  let images: [FirmwareImage]
  let turn: PeripheralTurn
  let context: UpdateContext
  let choice: ProtocolChoice

  /// How a life cycle ended well.
  enum Outcome {
    case wouldFlash
    case alreadyCurrent(RunningImage)
    case proven(RunningImage)
  }

  /// - Parameter version: what ran before, as soon as the device has told it.
  func run(
    from version: inout FirmwareVersion?, at places: [DeviceLocation]
  ) async throws(UpdateFault) -> Outcome {
    var search = LocationSearch(places, settlesAtHome: true)
    var unansweredActivations = 0
    var detachments = 0
    var restart = context.options.startsOver
    while true {
      switch try await transferUntilActivated(from: &version, &search, restart: restart) {
      case .wouldFlash: return .wouldFlash
      case .alreadyCurrent(let running): return .alreadyCurrent(running)
      case .detached(let places):
        detachments += 1
        guard detachments <= Self.detachmentsMaximum else {
          throw .protocolViolation(
            .detach, "it was sent to its bootloader \(detachments - 1) times and did not stay")
        }
        search = LocationSearch(places + (places.contains(.home) ? [] : [.home]))
      case .activated(let activation):
        search = LocationSearch(activation.places)
        var isTaken = activation.isAnswered
        do throws(UpdateFault) {
          let running = try await prove(
            &search, activation.startTime, before: version, isTaken: &isTaken)
          // A bootloader that never answered, or never let go, may not have taken the image.
          guard isTaken || running.agreement != .untold else {
            throw UpdateFault.oldVersionStillRuns(running: running.version)
          }
          return .proven(running)
        } catch {
          guard error.leavesOldVersion else { throw error }
          if !isTaken, unansweredActivations < Self.unansweredActivationsMaximum {
            // ACTIVATE may never have arrived. What the device holds is whole; it is asked again.
            unansweredActivations += 1
          } else if !activation.isProven, !restart {
            // What it held of an earlier run was damaged: it is sent anew.
            restart = true
          } else {
            throw error
          }
        }
      }
    }
  }

  // MARK: Until activation

  private func transferUntilActivated(
    from version: inout FirmwareVersion?, _ search: inout LocationSearch, restart: Bool
  ) async throws(UpdateFault) -> ConnectionOutcome {
    var attempt = 0
    var imageRepeats = 0
    var restart = restart
    // Either no restart was requested yet, or its outcome is known.
    context.tally.awaitRestart(of: nil)
    while true {
      var stage = UpdateStage.connect
      var session: (any UpdateSession)?
      do throws(UpdateFault) {
        let opened = try await openSession(
          attempt: attempt + 1, at: search.place(afterConnecting: context.tally.wasConnected))
        session = opened
        search.found()
        version = opened.device.runningVersion ?? version
        return try await transfer(over: opened, restart: restart, stage: &stage)
      } catch .imageRejected(let expected, let found) {
        guard imageRepeats < Self.imageRepeatsMaximum else {
          throw .imageRejected(expectedCRC32: expected, deviceCRC32: found)
        }
        imageRepeats += 1
        restart = true
        context.tally.startOver()
        turn.disconnect()
      } catch {
        let fault = addingTransferState(error, stage)
        if case .couldNotConnect(.deviceNotFound) = fault, search.moveOn() { continue }
        guard let loss = fault.linkLoss(afterConnecting: context.tally.wasConnected) else {
          throw await notifyDeviceBeforeDisconnect(fault, session)
        }
        // A device whose last answer was lost may have done what it was told: the next look tells.
        if let session, stage == .activate {
          return activated(session, isAnswered: false)
        }
        if let places = session?.bootloaderPlaces, !places.isEmpty, stage == .detach {
          return .detached(to: places)
        }
        // What a device has acknowledged, and lost again, was no progress.
        attempt = context.tally.takeProgress() ? 1 : attempt + 1
        // What was held is now wanted: a restart was carried out by the first connection.
        if stage == .upload || stage == .verify { restart = false }
        try await backOff(loss, attempt, fault)
      }
    }
  }

  /// One connection's work, top to bottom.
  private func transfer(
    over session: any UpdateSession, restart: Bool, stage: inout UpdateStage
  ) async throws(UpdateFault) -> ConnectionOutcome {
    context.observe(.device(session.device))
    context.tally.meet(session.device.hardware)
    stage = .prepare
    var plans: [UpdatePlan] = []
    var current: [FirmwareImage] = []
    for image in images {
      switch try await session.check(image) {
      case .send(let plan): plans.append(plan)
      case .alreadyCurrent: current.append(image)
      }
    }
    guard !plans.isEmpty else { return try await alreadyCurrent(session, stage: &stage) }
    if context.options.delta == .require && !session.device.takesPatches {
      throw .noPatch(.notUnderstood)
    }
    if let check = context.options.beforeTransfer {
      guard let client = turn.connectedClient else {
        throw .gatt(stage, .linkLost(.supervisionTimeout))
      }
      try await check(session.device, client)
    }
    if context.options.isDryRun { return .wouldFlash }
    if context.options.patch != nil, !session.device.takesPatches {
      let size = images.map(\.bytes.count).reduce(0, +)
      context.deliver(
        DeliveryReport(
          content: .image, bytes: size, imageSize: size, obstacle: .notUnderstood))
    }
    try await authorize(session, stage: &stage)
    if !session.bootloaderPlaces.isEmpty {
      stage = .detach
      try await detach(session)
      return .detached(to: session.bootloaderPlaces)
    }
    var isProven = true
    for plan in plans {
      let offset = try await send(plan, over: session, restart: restart, stage: &stage)
      if offset == plan.image.bytes.count, !session.provesHeldImages { isProven = false }
    }
    if let agree = context.options.beforeActivation { try await agree() }
    stage = .activate
    context.tally.activate()
    context.tally.awaitRestart(of: images)
    try await within(.activate) { () async throws(UpdateFault) in
      try await session.activate(plans.map(\.image), keeping: current)
    }
    return activated(session, isProven: isProven)
  }

  private func activated(
    _ session: any UpdateSession, isAnswered: Bool = true, isProven: Bool = true
  ) -> ConnectionOutcome {
    .activated(
      Activation(
        isAnswered: isAnswered, places: session.placesAfterActivation(of: images),
        startTime: session.startTime(of: images), isProven: isProven))
  }

  private func alreadyCurrent(
    _ session: any UpdateSession, stage: inout UpdateStage
  ) async throws(UpdateFault) -> ConnectionOutcome {
    let running = try await running(on: session)
    if context.options.isDryRun || !running.isOnTrial { return .alreadyCurrent(running) }
    // An earlier run was broken off before it could confirm the image.
    try await authorize(session, stage: &stage)
    let confirmed = try await confirmIfOnTrial(running, session)
    context.tally.confirmTrial()
    return .alreadyCurrent(confirmed)
  }

  /// What makes no image of a patch gets the image, once: a session that has given up patches makes
  /// no other. Returns the offset from which the device wanted the image.
  private func send(
    _ plan: UpdatePlan, over session: any UpdateSession, restart: Bool, stage: inout UpdateStage
  ) async throws(UpdateFault) -> Int {
    do throws(UpdateFault) {
      return try await transfer(plan, over: session, restart: restart, stage: &stage)
    } catch .noPatch(let obstacle) where context.options.delta != .require {
      context.observe(.patchGivenUp(because: obstacle))
      context.tally.startOver()
      return try await transfer(plan, over: session, restart: true, stage: &stage)
    }
  }

  /// Returns the offset from which the device wanted the image.
  private func transfer(
    _ plan: UpdatePlan, over session: any UpdateSession, restart: Bool, stage: inout UpdateStage
  ) async throws(UpdateFault) -> Int {
    stage = .prepare
    if let index = context.parts.firstIndex(of: plan.image) {
      context.observe(
        .part(name: plan.image.name, number: index + 1, of: context.parts.count))
    }
    let upload = try await within(.prepare) { () async throws(UpdateFault) -> PreparedUpload in
      let began = context.clock.now
      defer { context.tally.prepare(took: began.duration(to: context.clock.now)) }
      return try await session.prepare(plan, restart: restart)
    }
    let total = plan.image.bytes.count
    let offset = try upload.offset(in: total, .prepare)
    context.tally.acknowledge(offset)
    context.tally.begin(at: offset, making: upload.made, of: total)
    // Where all of it is held there is nothing to take up.
    if offset > 0 && offset < total { context.tally.resume() }
    context.observe(.transferBegan(offset: offset, total: total, resumed: offset > 0))
    try await sendAndVerify(plan.image, upload, over: session, stage: &stage)
    return offset
  }

  private func sendAndVerify(
    _ image: FirmwareImage, _ prepared: PreparedUpload, over session: any UpdateSession,
    stage: inout UpdateStage
  ) async throws(UpdateFault) {
    var upload = prepared
    for _ in 0...Self.verdictsMaximum {
      stage = .upload
      try await perform(upload)
      stage = .verify
      let verdict = try await within(.verify) { () async throws(UpdateFault) -> UpdateVerdict in
        let began = context.clock.now
        defer { context.tally.verify(took: began.duration(to: context.clock.now)) }
        return try await session.verify(image)
      }
      guard case .wanted(let rest) = verdict else { return }
      let offset = try rest.offset(in: image.bytes.count, .verify)
      context.observe(.rewound(to: offset, because: .gap))
      upload = rest
    }
    throw .noProgress(atOffset: upload.offset, repeats: Self.verdictsMaximum)
  }

  private func perform(_ upload: PreparedUpload) async throws(UpdateFault) {
    let began = context.clock.now
    defer { context.tally.upload(took: began.duration(to: context.clock.now)) }
    try await within(.upload) { () async throws(UpdateFault) in try await upload.send() }
  }

  func authorize(
    _ session: any UpdateSession, stage: inout UpdateStage
  ) async throws(UpdateFault) {
    guard session.device.needsAuthorization, let key = context.options.key else { return }
    stage = .authorize
    try await within(.authorize) { () async throws(UpdateFault) in
      try await session.authorize(with: key)
    }
  }

  // MARK: Reporting

  func within<Value: Sendable>(
    _ stage: UpdateStage, _ body: () async throws(UpdateFault) -> Value
  ) async throws(UpdateFault) -> Value {
    context.observe(.stageBegan(stage))
    let began = context.clock.now
    let value = try await body()
    context.observe(.stageEnded(stage, took: began.duration(to: context.clock.now)))
    return value
  }
}

extension PreparedUpload {
  /// - Throws: `.protocolViolation` for an offset that the image has not.
  fileprivate func offset(in total: Int, _ stage: UpdateStage) throws(UpdateFault) -> Int {
    guard (0...total).contains(offset) else {
      throw .protocolViolation(stage, "it says it holds \(offset) of \(total) bytes")
    }
    return offset
  }
}

extension UpdateFault {
  /// What ran before runs. A device that never heard of its activation cannot be told from one that
  /// took the image back.
  package var leavesOldVersion: Bool {
    switch self {
    // An old image may have the new one's version.
    case .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted, .reverted:
      true
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .declined, .authorizationRequired,
      .wrongKey, .noUpdateService, .unsupportedProtocolVersion, .unreachableAfterActivation,
      .stoppedAfterActivation, .imageRejected, .blockKeepsFailing, .stalled, .noProgress, .linkLost,
      .couldNotConnect, .bondForgotten, .protocolViolation, .gatt, .cancelled, .timedOut, .noPatch:
      false
    }
  }
}
