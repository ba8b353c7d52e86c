import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The life cycle of every protocol: detach, transfer, activate, reconnect, verify, confirm. If the
/// link is lost before the activation, the life cycle restarts at the first step. Each connection
/// starts by reading the device's state.
struct UpdateLifeCycle: Sendable {
  /// The maximum number of times that a complete image is sent again because its CRC32 in the
  /// device's flash is wrong.
  private static let imageRepeatsMaximum = 1
  /// The maximum number of times that a device with the complete image may request a part of it
  /// again.
  private static let verdictsMaximum = 4
  /// The maximum number of times that ACTIVATE is repeated after its answer was lost and the old
  /// version runs.
  private static let unansweredActivationsMaximum = 3
  /// The maximum number of times that a device is restarted into its bootloader. Each transfer that
  /// starts over may require another restart, because the application runs in between.
  private static let detachmentsMaximum = 8

  /// The outcome of one connection.
  private enum ConnectionOutcome {
    case alreadyCurrent(RunningImage)
    case wouldFlash
    /// The device restarted, or may have restarted, into its bootloader, whose locations are
    /// searched first.
    case detached(to: [DeviceLocation])
    /// The device agreed to restart into the image, or may have agreed if its answer was lost.
    case activated(Activation)
  }

  private struct Activation {
    let isAnswered: Bool
    /// The possible locations of the device after the restart.
    let places: [DeviceLocation]
    /// The time that the bootloader needs in addition to `UpdateOptions.rebootLimit`.
    let startTime: Duration
    /// The time after which a device that does not advertise counts as restarted.
    let silentLimit: Duration?
    /// Whether all of the device's content was sent or compared on this connection.
    let isProven: Bool
  }

  /// The images that one restart activates, one or more. They are sent in sequence on one
  /// connection.
  let images: [FirmwareImage]
  let turn: PeripheralTurn
  let context: UpdateContext
  let choice: ProtocolChoice

  /// A successful outcome of a life cycle.
  enum Outcome {
    case wouldFlash
    case alreadyCurrent(RunningImage)
    case proven(RunningImage)
  }

  /// Runs the life cycle for `images`.
  ///
  /// - Parameter version: receives the version that runs before the update, as soon as the device
  ///   reports it.
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
            .detach, "it entered its bootloader \(detachments - 1) times, but did not stay in it")
        }
        search = LocationSearch(places + (places.contains(.home) ? [] : [.home]))
      case .activated(let activation):
        search = LocationSearch(activation.places)
        var isTaken = activation.isAnswered
        do throws(UpdateFault) {
          let running = try await prove(
            &search, activation.startTime, silentAfter: activation.silentLimit, before: version,
            isTaken: &isTaken)
          // A bootloader that never answered or that kept the link may not have accepted the image.
          guard isTaken || running.agreement != .untold else {
            throw UpdateFault.oldVersionStillRuns(running: running.version)
          }
          return .proven(running)
        } catch {
          guard error.leavesOldVersion else { throw error }
          if !isTaken, unansweredActivations < Self.unansweredActivationsMaximum {
            // ACTIVATE may not have arrived. The device holds the complete image, so the request is
            // repeated.
            unansweredActivations += 1
          } else if !activation.isProven, !restart {
            // The image from an earlier connection may be damaged, so it is sent again.
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
    // Either no restart was requested yet, or the outcome of the restart is known.
    context.tally.awaitRestart(of: nil)
    while true {
      var stage = UpdateStage.connect
      var session: (any UpdateSession)?
      var isProven = true
      do throws(UpdateFault) {
        let opened = try await openSession(
          attempt: attempt + 1, at: search.place(afterConnecting: context.tally.wasConnected))
        session = opened
        search.found()
        version = opened.device.runningVersion ?? version
        return try await transfer(
          over: opened, restart: restart, stage: &stage, isProven: &isProven)
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
        // A device whose last answer was lost may have executed the request; the next connection
        // shows whether it did.
        if let session, stage == .activate {
          return activated(session, isAnswered: false, isProven: isProven)
        }
        if let places = session?.bootloaderPlaces, !places.isEmpty, stage == .detach {
          return .detached(to: places)
        }
        // Acknowledged bytes that the device has lost do not count as progress.
        attempt = context.tally.takeProgress() ? 1 : attempt + 1
        // The first connection has already discarded the old state, so later connections may
        // resume.
        if stage == .upload || stage == .verify { restart = false }
        try await backOff(loss, attempt, fault)
      }
    }
  }

  /// Performs the steps of one connection, in order.
  private func transfer(
    over session: any UpdateSession, restart: Bool, stage: inout UpdateStage,
    isProven: inout Bool
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
    let left = context.tally.left
    let obstacle = left ?? context.options.deliveryObstacle(on: session.device)
    if let obstacle, context.options.requiresDelivery { throw .undeliverable(obstacle) }
    if let check = context.options.beforeTransfer {
      guard let client = turn.connectedClient else {
        throw .gatt(stage, .linkLost(.supervisionTimeout))
      }
      try await check(session.device, client)
    }
    if context.options.isDryRun { return .wouldFlash }
    if let obstacle, left != nil || context.options.delivery?.providesContent == true {
      let size = images.map(\.bytes.count).reduce(0, +)
      context.deliver(
        DeliveryReport(content: .image, bytes: size, imageSize: size, obstacle: obstacle))
    }
    try await authorize(session, stage: &stage)
    if !session.bootloaderPlaces.isEmpty {
      stage = .detach
      try await detach(session)
      return .detached(to: session.bootloaderPlaces)
    }
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
    _ session: any UpdateSession, isAnswered: Bool = true, isProven: Bool
  ) -> ConnectionOutcome {
    .activated(
      Activation(
        isAnswered: isAnswered, places: session.placesAfterActivation(of: images),
        startTime: session.startTime(of: images),
        silentLimit: session.silentRestartLimit(of: images),
        isProven: isProven))
  }

  private func alreadyCurrent(
    _ session: any UpdateSession, stage: inout UpdateStage
  ) async throws(UpdateFault) -> ConnectionOutcome {
    let running = try await running(on: session)
    if context.options.isDryRun || !running.isOnTrial { return .alreadyCurrent(running) }
    // An earlier run was interrupted before it confirmed the image.
    try await authorize(session, stage: &stage)
    let confirmed = try await confirmIfOnTrial(running, session)
    context.tally.confirmTrial()
    return .alreadyCurrent(confirmed)
  }

  /// Sends an image by the delivery method, or as the image itself if the method fails and is not
  /// required. Returns the offset from which the device requested the image.
  private func send(
    _ plan: UpdatePlan, over session: any UpdateSession, restart: Bool, stage: inout UpdateStage
  ) async throws(UpdateFault) -> Int {
    do throws(UpdateFault) {
      return try await transfer(plan, over: session, restart: restart, stage: &stage)
    } catch .undeliverable(let obstacle) where !context.options.requiresDelivery {
      context.observe(.deliveryGivenUp(because: obstacle))
      context.tally.startOver()
      return try await transfer(plan, over: session, restart: true, stage: &stage)
    }
  }

  /// Announces, sends and verifies the content that the session selects for an image. Returns the
  /// offset from which the device requested the image.
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
    // A complete image leaves nothing to resume.
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
  /// - Throws: `.protocolViolation` if the offset is outside of the image.
  fileprivate func offset(in total: Int, _ stage: UpdateStage) throws(UpdateFault) -> Int {
    guard (0...total).contains(offset) else {
      throw .protocolViolation(stage, "it reports \(offset) of \(total) bytes")
    }
    return offset
  }
}

extension UpdateFault {
  /// Whether the device answered after the activation, but does not run the new image. A device
  /// that did not receive ACTIVATE cannot be distinguished from a device that reverted the image.
  package var leavesOldVersion: Bool {
    switch self {
    // An old image may have the version of the new image.
    case .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted, .reverted:
      true
    case .wrongHardware, .doesNotFit, .downgrade, .olderBuild, .versionUnknown, .hardwareUnknown,
      .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .declined, .authorizationRequired,
      .wrongKey, .noUpdateService, .unsupportedProtocolVersion, .unreachableAfterActivation,
      .stoppedAfterActivation, .imageRejected, .blockKeepsFailing, .stalled, .noProgress, .linkLost,
      .couldNotConnect, .bondForgotten, .protocolViolation, .gatt, .cancelled, .timedOut,
      .undeliverable:
      false
    }
  }
}
