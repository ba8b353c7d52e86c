import OtaflashDelta
import OtaflashFirmware

/// What is sent instead of an image, where a device takes it (docs/ota-service.md, 13): decided by
/// what the device has said, and announced to it.
struct OTAPatchNegotiation: Sendable {
  /// After so long it is told that a patch is being made.
  fileprivate static let silentMaking = Duration.seconds(1)

  let control: OTAControl
  let info: OTAInfo
  let device: DeviceReport
  /// `nil` = the device takes no patches, or nobody wants to send any.
  let patching: OTAPatching?
  let path: OTADataPath

  private var context: UpdateContext { path.context }
  private var retained: RetainedState<OTARetained> { path.retained }

  /// What a plan comes to on this connection.
  enum PlannedDelivery {
    case image(PatchObstacle?, unused: PatchObstacle?)
    case stream(OTASentStream)
    case refuse(PatchObstacle)
  }

  /// Where a patch is required: whether one can be, as far as the device has told.
  func check() async throws(UpdateFault) {
    guard context.options.delta == .require else { return }
    guard let decision = await earlyDecision(), !Task.isCancelled else {
      throw .gatt(.prepare, .cancelled)
    }
    if let obstacle = decision.obstacle { throw .noPatch(obstacle) }
  }

  /// `nil` = the task was cancelled.
  private func earlyDecision() async -> OTADeliveryDecision? {
    // A patch that is there already needs no base here.
    guard context.options.patch == nil, let bases = context.options.bases else {
      return decision(looks: false)
    }
    return await bases.computation.run { decision() }
  }

  func delivery(
    of plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PlannedDelivery {
    let image = ContentIdentity(size: plan.image.bytes.count, crc32: plan.image.crc32)
    // A lost link changes nothing about what is sent.
    switch retained.value.sent {
    case .image(let obstacle, let unused): return .image(obstacle, unused: unused)
    case .stream(let sent) where sent.stream.image == image && isOf(sent.stream.base):
      return .stream(sent)
    case .stream, nil: break
    }
    let decision = try await decide(on: plan.image, restart: restart)
    switch decision.verdict {
    case .image(let obstacle): return .image(obstacle, unused: decision.unused)
    case .refuse(let obstacle): return .refuse(obstacle)
    case .stream(let delivery, let obstacle):
      let base = delivery.content == .difference ? patching?.info.base : nil
      let stream = OTAStream(
        delivery, of: image, against: base ?? .empty,
        pageSize: patching?.info.pageSize ?? info.pageSize)
      return .stream(OTASentStream(stream: stream, obstacle: obstacle, unused: decision.unused))
    }
  }

  /// Whether a stream against this base is one for what runs.
  private func isOf(_ base: OTABase) -> Bool {
    retained.value.patchesGivenUp == nil
      && (base == .empty || ContentIdentity(base) == patching?.running)
  }

  /// Looks for the base and makes what is sent, unless it was made before.
  private func decide(
    on image: FirmwareImage, restart: Bool
  ) async throws(UpdateFault) -> OTADeliveryDecision.Decision {
    guard let abilities = patching?.abilities, let bases = context.options.bases else {
      return decision(for: image, restart: restart, looks: false).decision(for: image.bytes)
    }
    let shelf = bases.made.shelf(
      for: PatchCache.Pair(
        image: ContentIdentity(size: image.bytes.count, crc32: image.crc32),
        base: patching?.running, abilities: abilities))
    let made = await context.makingPatch(
      on: bases.computation
    ) { () async -> OTADeliveryDecision.Decision? in
      // Inline nobody can come in between; and a simulation waits for nothing outside of it.
      let waits = bases.computation.isElsewhere
      if waits, await shelf.gate.enter() != .entered { return nil }
      defer { if waits { shelf.gate.leave() } }
      return await bases.computation.run {
        decision(for: image, restart: restart).decision(for: image.bytes) { planner in
          planner.remembering = { shelf.stream($0, $1) }
          planner.isCancelled = { Task.isCancelled }
        }
      }
    }
    guard let made, !Task.isCancelled else { throw .gatt(.prepare, .cancelled) }
    return made
  }

  /// - Parameter looks: for the base, which may take a while.
  private func decision(
    for image: FirmwareImage? = nil, restart: Bool = false, looks: Bool = true
  ) -> OTADeliveryDecision {
    let running = patching?.running
    let bases = looks ? context.options.bases : nil
    var decision = OTADeliveryDecision(
      policy: context.options.delta, abilities: patching?.abilities, conditions: conditions,
      running: running, base: running.flatMap { bases?.bytes(of: $0) })
    if let patching { decision.absence = patching.absence }
    decision.given = context.options.patch
    decision.givenUp = retained.value.patchesGivenUp
    if let image, !restart {
      decision.held = device.resumeOffset(for: image)
      decision.begun = patching?.begun
      decision.begunOffset = patching?.point.nextOffset ?? 0
    }
    return decision
  }

  /// What is known of link and flash, and what most devices are like where nobody tells.
  private var conditions: DeliveryConditions {
    let rate = OTALinkRate(
      facts: path.client.linkFacts, chunk: path.chunkSize, window: max(1, info.bufferSize),
      isAnswered: path.mode == .withResponse, roundTrip: patching?.roundTrip ?? .zero)
    return DeliveryConditions(
      bytesPerSecond: rate.bytesPerSecond, pageSize: info.pageSize,
      isErasedAhead: info.erasesAhead, receiveBuffer: info.bufferSize)
  }

  // MARK: The announcement

  /// Whether the device holds a part of this stream.
  func holdsPart(of stream: OTAStream) -> Bool {
    let announced = stream.announcement
    return patching?.begun
      == ContentIdentity(size: announced.streamSize, crc32: announced.streamCRC32)
  }

  /// Announces a stream; the announcement holds until the next BEGIN is done.
  func announce(_ stream: OTAStream) async throws(UpdateFault) {
    let patch = stream.announcement
    let answer = try await control.exchange(.patch(patch), .prepare)
    guard answer.result == OTARefusal.otherBase.rawValue else {
      do throws(UpdateFault) { _ = try control.payload(of: answer, .prepare) } catch {
        throw error.concernsPatches ? retained.givingUpPatches(.refused) : error
      }
      return
    }
    let base = try decoding(.prepare) { () throws(OTADecodeFault) -> OTABase in
      try OTABase(decoding: answer.payload)
    }
    // 0 and 0: what runs cannot be read, or was read for this patch and is not what it should be.
    guard let running = ContentIdentity(base), let expected = ContentIdentity(patch.base) else {
      throw retained.givingUpPatches(.baseUnreadable)
    }
    throw retained.givingUpPatches(.otherBase(expected: expected, running: running))
  }
}

extension UpdateFault {
  /// A device that does not do what it says of patches may take images all the same.
  fileprivate var concernsPatches: Bool {
    switch self {
    case .declined(_, .otaService(.notAuthorized)): false
    case .declined, .protocolViolation: true
    default: false
    }
  }
}

extension UpdateContext {
  var wantsPatches: Bool { options.delta != .never }

  /// Tells that a patch is being made where that takes longer than anybody would notice.
  fileprivate func makingPatch<Value: Sendable>(
    on computation: Computation, _ make: () async -> Value
  ) async -> Value {
    // In no time there is nothing to tell.
    guard computation.isElsewhere else { return await make() }
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        if await clock.pause(for: OTAPatchNegotiation.silentMaking) { observe(.makingPatch) }
      }
      let value = await make()
      group.cancelAll()
      return value
    }
  }
}

extension OTAControl {
  /// What the device says of patches; `nil` where its answers are none, which gives patches up.
  func patching(
    while running: OTARunning, _ retained: RetainedState<OTARetained>
  ) async throws(UpdateFault) -> OTAPatching? {
    do throws(UpdateFault) {
      return try await patching(while: running)
    } catch {
      guard error.concernsPatches else { throw error }
      retained.update { $0.patchesGivenUp = .refused }
      return nil
    }
  }

  private func patching(while running: OTARunning) async throws(UpdateFault) -> OTAPatching {
    let began = clock.now
    let info = try await perform(.patchInfo, .connect)
    let roundTrip = began.duration(to: clock.now)
    let point = try await perform(.patchPoint, .connect)
    return try decoding(.connect) { () throws(OTADecodeFault) in
      OTAPatching(
        info: try OTAPatchInfo(decoding: info), point: try OTAPatchPoint(decoding: point),
        namesRunning: running.imageSize > 0, roundTrip: roundTrip)
    }
  }
}

extension DeliveryReport {
  init(_ sent: OTASentStream) {
    let stream = sent.stream
    self.init(
      content: ContentIdentity(stream.base).map { .patch(base: $0) } ?? .compressed,
      bytes: stream.bytes.count, imageSize: stream.image.size, obstacle: sent.obstacle,
      isLimitedByFlash: stream.delivery.forecast.isLimitedByFlash)
    unused = sent.unused
  }
}
