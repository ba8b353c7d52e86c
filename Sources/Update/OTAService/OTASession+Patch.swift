import OtaflashDelta
import OtaflashFirmware

/// What is sent instead of an image, where a device takes it (docs/ota-service.md, 13).
extension OTASession {
  /// What a plan comes to on this connection.
  enum PlannedDelivery {
    case image(PatchObstacle?)
    case stream(OTAStream, PatchObstacle?)
    case refuse(PatchObstacle)
  }

  /// The stream that the session held was made of, as far as this update knows.
  var sentStream: OTAStream? {
    if case .stream(let stream) = context.memory.last(OTASent.self) { stream } else { nil }
  }

  /// Where a patch is required: whether one can be.
  func checkPatch() throws(UpdateFault) {
    guard context.options.delta == .require, let obstacle = decision().obstacle else { return }
    throw .noPatch(obstacle)
  }

  func delivery(of plan: UpdatePlan, restart: Bool) -> PlannedDelivery {
    let image = ContentIdentity(size: plan.image.bytes.count, crc32: plan.image.crc32)
    // A lost link changes nothing about what is sent.
    if case .image(let obstacle) = context.memory.last(OTASent.self) { return .image(obstacle) }
    let decision = decision(for: plan.image, restart: restart)
    if let stream = sentStream, decision.givenUp == nil, stream.image == image,
      stream.base == .empty || ContentIdentity(stream.base) == decision.running
    {
      return .stream(stream, stream.base == .empty ? decision.obstacle : nil)
    }
    let made = context.options.bases?.made
    switch decision.verdict(for: plan.image.bytes, keepingIn: made) {
    case .image(let obstacle): return .image(obstacle)
    case .refuse(let obstacle): return .refuse(obstacle)
    case .stream(let delivery, let obstacle):
      let base = delivery.content == .difference ? patching?.info.base : nil
      let stream = OTAStream(
        delivery, of: image, against: base ?? .empty,
        pageSize: patching?.info.pageSize ?? info.pageSize)
      return .stream(stream, obstacle)
    }
  }

  private func decision(
    for image: FirmwareImage? = nil, restart: Bool = false
  ) -> OTADeliveryDecision {
    let running = patching?.running
    let bases = context.options.bases
    var decision = OTADeliveryDecision(
      policy: context.options.delta, abilities: patching?.abilities, conditions: conditions,
      running: running, base: running.flatMap { bases?.octets(of: $0) })
    decision.givenUp = context.memory.last(OTAPatchesGivenUp.self)?.obstacle
    if let image, !restart {
      decision.held = device.resumeOffset(for: image)
      decision.begun = patching?.begun
    }
    return decision
  }

  /// What is known of link and flash, and what most devices are like where nobody tells.
  private var conditions: DeliveryConditions {
    let rate = OTALinkRate(
      facts: client.linkFacts, chunk: chunkSize, window: max(1, info.bufferSize),
      isAnswered: mode == .withResponse,
      roundTrip: patching?.roundTrip ?? .zero)
    return DeliveryConditions(
      octetsPerSecond: rate.octetsPerSecond, pageSize: info.pageSize,
      isErasedAhead: info.erasesAhead, receiveBuffer: info.bufferSize)
  }

  /// Announces the stream, and goes on where the device stands in it.
  func prepare(
    _ stream: OTAStream, _ plan: UpdatePlan, restart: Bool, _ obstacle: PatchObstacle?
  ) async throws(UpdateFault) -> PreparedUpload {
    let announced = stream.announcement
    let isHeld =
      patching?.begun
      == ContentIdentity(size: announced.streamSize, crc32: announced.streamCRC32)
    let position = try await position(in: stream.octets, restart: restart || !isHeld) {
      (restart) async throws(UpdateFault) in
      // A PATCH holds until the BEGIN behind it is done.
      try await announce(announced)
      return try await begin(plan, restart: restart, .patch)
    }
    context.memory.keep(OTASent.stream(stream))
    context.deliver(DeliveryReport(stream, obstacle))
    return upload(of: stream, from: position.nextOffset)
  }

  func upload(of stream: OTAStream, from offset: Int) -> PreparedUpload {
    var session = self
    session.stream = stream
    return PreparedUpload(from: stream.imageOctets(ofFirst: offset)) {
      [session] () async throws(UpdateFault) in
      try await session.upload(stream.octets, from: offset)
    }
  }

  private func announce(_ patch: OTAPatch) async throws(UpdateFault) {
    let answer = try await control.exchange(.patch(patch), .prepare)
    guard answer.result == OTARefusal.otherBase.rawValue else {
      _ = try control.payload(of: answer, .prepare)
      return
    }
    let base = try decoding(.prepare) { () throws(OTADecodeFault) -> OTABase in
      try OTABase(decoding: answer.payload)
    }
    guard let running = ContentIdentity(base), let expected = ContentIdentity(patch.base) else {
      throw givingUpPatches(.baseNotTold)
    }
    throw givingUpPatches(.otherBase(expected: expected, running: running))
  }

  /// The next transfer of this update is of the image as it is.
  func givingUpPatches(_ obstacle: PatchObstacle) -> UpdateFault {
    context.memory.keep(OTAPatchesGivenUp(obstacle: obstacle))
    return .noPatch(obstacle)
  }
}

extension UpdateContext {
  var wantsPatches: Bool { options.delta != .never }
}

extension OTAControl {
  func patching() async throws(UpdateFault) -> OTAPatching {
    let began = clock.now
    let info = try await perform(.patchInfo, .connect)
    let roundTrip = began.duration(to: clock.now)
    let point = try await perform(.patchPoint, .connect)
    return try decoding(.connect) { () throws(OTADecodeFault) in
      OTAPatching(
        info: try OTAPatchInfo(decoding: info), point: try OTAPatchPoint(decoding: point),
        roundTrip: roundTrip)
    }
  }
}

extension DeliveryReport {
  fileprivate init(_ stream: OTAStream, _ obstacle: PatchObstacle?) {
    self.init(
      content: ContentIdentity(stream.base).map { .patch(base: $0) } ?? .compressed,
      octets: stream.octets.count, imageSize: stream.image.size, obstacle: obstacle,
      isLimitedByFlash: stream.delivery.forecast.isLimitedByFlash)
  }
}
