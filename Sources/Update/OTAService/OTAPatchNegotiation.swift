import OtaflashDelta
import OtaflashFirmware

/// Chooses a stream that replaces an image, according to the device's report, and announces the
/// stream to the device (docs/ota-service.md, 13).
struct OTAPatchNegotiation: Sendable {
  let control: OTAControl
  let info: OTAInfo
  let device: DeviceReport
  /// The device's report about patches; `nil` = the device supports no patches or refused the
  /// requests, or patches are not permitted.
  let patching: OTAPatching?
  let path: OTADataPath

  private var context: UpdateContext { path.context }
  private var retained: RetainedState<OTARetained> { path.retained }

  /// The content of a plan on this connection.
  enum PlannedDelivery {
    case image(PatchObstacle?, unused: PatchObstacle?)
    case stream(OTASentStream)
    case refuse(PatchObstacle)
  }

  /// Checks from the device's report whether a patch is possible, if a patch is required.
  func check() async throws(UpdateFault) {
    guard context.options.patches.isRequired else { return }
    try await context.checkRequiredPatch(decision())
  }

  /// Returns the reason why no patch is possible; `nil` if a patch may be possible. Some reasons
  /// are found only when a patch is created.
  func obstacle() async throws(UpdateFault) -> PatchObstacle? {
    var decision = decision()
    guard decision.given != nil else { return try await context.obstacle(to: decision) }
    decision.policy = .require
    if try await context.obstacle(to: decision) == nil { return nil }
    // The prebuilt patch is not suitable, but this host may create another patch.
    decision.given = nil
    return try await context.obstacle(to: decision)
  }

  func delivery(
    of plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PlannedDelivery {
    let image = ContentIdentity(size: plan.image.bytes.count, crc32: plan.image.crc32)
    // After a lost link, the update continues with the same content.
    switch retained.value.sent {
    case .image(let obstacle, let unused): return .image(obstacle, unused: unused)
    case .stream(let sent) where sent.stream.image == image && isOf(sent.stream.base):
      return .stream(sent)
    case .stream, nil: break
    }
    let decision = try await context.decide(
      on: plan.image, decision(for: plan.image, restart: restart))
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

  /// Returns whether a stream against this base can still be sent: the base is empty or the running
  /// image, and patches were not abandoned.
  private func isOf(_ base: OTABase) -> Bool {
    retained.value.patchesGivenUp == nil
      && (base == .empty || ContentIdentity(base) == patching?.running)
  }

  /// Creates the decision from the facts of the device, the link and the caller, without the bytes
  /// of the base.
  private func decision(
    for image: FirmwareImage? = nil, restart: Bool = false
  ) -> DeliveryDecision {
    let options = context.options.patches
    var decision = DeliveryDecision(
      policy: options.policy, abilities: patching?.abilities, conditions: conditions,
      running: patching?.running)
    if let patching { decision.absence = patching.absence }
    decision.given = options.prebuilt
    decision.givenUp = retained.value.patchesGivenUp
    if let image, !restart {
      decision.held = device.resumeOffset(for: image)
      decision.begun = patching?.begun
      decision.begunOffset = patching?.point.nextOffset ?? 0
    }
    return decision
  }

  /// The parameters of link and flash; unknown parameters have typical values.
  private var conditions: DeliveryConditions {
    let rate = OTALinkRate(
      facts: path.client.linkFacts, chunk: path.chunkSize, window: max(1, info.bufferSize),
      isAnswered: path.mode == .withResponse, roundTrip: patching?.roundTrip ?? .zero)
    return DeliveryConditions(
      bytesPerSecond: rate.bytesPerSecond, pageSize: info.pageSize,
      isErasedAhead: info.erasesAhead, receiveBuffer: info.bufferSize,
      decodingRate: patching?.info.decodingRate.map(Double.init))
  }

  // MARK: The announcement

  /// Returns whether the device holds a part of this stream.
  func holdsPart(of stream: OTAStream) -> Bool {
    let announced = stream.announcement
    return patching?.begun
      == ContentIdentity(size: announced.streamSize, crc32: announced.streamCRC32)
  }

  /// Announces a stream; the announcement is valid until the next BEGIN succeeds or the connection
  /// ends.
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
    // If size and CRC32 are 0, the running image cannot be read or is damaged.
    guard let running = ContentIdentity(base), let expected = ContentIdentity(patch.base) else {
      throw retained.givingUpPatches(.baseUnreadable)
    }
    throw retained.givingUpPatches(.otherBase(expected: expected, running: running))
  }
}

extension UpdateFault {
  /// Whether a fault concerns only patches: the device may still accept the image itself.
  fileprivate var concernsPatches: Bool {
    switch self {
    case .declined(_, .otaService(.notAuthorized)): false
    case .declined, .protocolViolation: true
    default: false
    }
  }
}

extension OTAControl {
  /// Reads the device's report about patches. Returns `nil` and abandons patches if the device
  /// refuses the requests or its answers are invalid.
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
      content: ContentIdentity(stream.base).map { .difference(base: $0) } ?? .compressed,
      bytes: stream.bytes.count, imageSize: stream.image.size,
      obstacle: sent.obstacle.map(DeliveryObstacle.patch),
      isLimitedByFlash: stream.delivery.forecast.isLimitedByFlash)
    unused = sent.unused.map(DeliveryObstacle.patch)
  }
}
