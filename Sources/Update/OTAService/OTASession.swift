import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashWire

/// The otaflash OTA service on one connection (docs/ota-service.md; README.md in this folder
/// describes the sequence).
struct OTASession: UpdateSession {
  static let updateProtocol = UpdateProtocol.otaflash
  static let services = [OTAService.service]
  /// An application with MCUboot may offer both services (docs/mcuboot.md).
  static let alternatives: [UpdateProtocol] = [.smp]

  /// Returns whether the service supports the image. The service writes one slot, and transfers no
  /// init packets.
  static func takes(_ image: FirmwareImage) -> Bool {
    switch image.content {
    case .plain: true
    case .mcuboot(_, let place): place.imageIndex == 0 && place.slot ?? 0 == 0
    case .nordic, .gbl, .telink, .suota, .oad, .microbit: false
    // Only an application that was built for this service states its hardware.
    case .esp: image.hardware != nil
    }
  }

  let client: GATTClient
  let context: UpdateContext
  let retained: RetainedState<OTARetained>
  let data: DiscoveredCharacteristic
  let status: DiscoveredCharacteristic
  let notifications: NotificationStream
  let control: OTAControl
  let info: OTAInfo
  let device: DeviceReport
  /// The device's report about patches; `nil` = the device supports no patches or refused the
  /// requests, or patches are not permitted.
  let patching: OTAPatching?

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<OTARetained>
  ) async throws(UpdateFault) -> OTASession {
    let found = try await characteristics(of: client)
    let (control, data, status) = (found[0], found[1], found[2])
    let answers: NotificationStream
    let notifications: NotificationStream
    do throws(GATTFault) {
      answers = try await client.subscribe(to: control, as: .indications)
      notifications = try await client.subscribe(to: status, as: .notifications)
    } catch {
      throw .gatt(.connect, error)
    }
    let operations = OTAControl(
      client: client, characteristic: control, answers: answers, clock: context.clock,
      limit: context.options.controlLimit)
    let info = try await operations.info()
    let running = try await operations.running(.connect)
    let resumePoint = try await operations.resumePoint()
    let asksForPatches = context.options.patches.policy != .never && info.takesPatches
    let patching =
      asksForPatches ? try await operations.patching(while: running, retained) : nil
    let device = DeviceReport(
      info: info, running: running, resumePoint: resumePoint, patching: patching)
    return OTASession(
      client: client, context: context, retained: retained, data: data, status: status,
      notifications: notifications, control: operations, info: info, device: device,
      patching: patching)
  }

  private static func characteristics(
    of client: GATTClient
  ) async throws(UpdateFault) -> [DiscoveredCharacteristic] {
    do throws(GATTFault) {
      return try await client.characteristics(
        [OTAService.control, OTAService.data, OTAService.status], in: OTAService.service)
    } catch .notFound(OTAService.service) {
      throw .noUpdateService
    } catch {
      throw .gatt(.connect, error)
    }
  }

  var path: OTADataPath {
    OTADataPath(
      client: client, characteristic: data, info: info, context: context, retained: retained)
  }

  var statuses: OTAStatusFeed {
    OTAStatusFeed(
      client: client, characteristic: status, notifications: notifications, context: context)
  }

  private var negotiation: OTAPatchNegotiation {
    OTAPatchNegotiation(
      control: control, info: info, device: device, patching: patching, path: path)
  }

  // MARK: Steps

  func check(_ image: FirmwareImage) async throws(UpdateFault) -> Preflight {
    let preflight = try preflight(image)
    if case .send = preflight { try await negotiation.check() }
    return preflight
  }

  private func preflight(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    var options = context.options
    // MCUboot's format has no hardware id, so SMP does not compare hardware ids either.
    if context.alternative == .smp, image.mcuboot != nil { options.allowsUnknown = true }
    return try Preflight.check(image, against: device, options: options)
  }

  /// Keeps the update if a patch is required or possible, or if the device already runs the image.
  func preference(
    for images: [FirmwareImage]
  ) async throws(UpdateFault) -> ProtocolPreference {
    let patches = context.options.patches
    if patches.isRequired { return .keep }
    for image in images {
      switch Result(catching: { () throws(UpdateFault) in try preflight(image) }) {
      case .success(.alreadyCurrent): return .keep
      case .success(.send): break
      // The other protocol may accept the image, or states its own reason.
      case .failure: return .leave(because: nil)
      }
    }
    guard patches.policy != .never else { return .leave(because: nil) }
    return try await negotiation.obstacle().map { .leave(because: .patch($0)) } ?? .keep
  }

  func authorize(with key: [UInt8]) async throws(UpdateFault) {
    let challenge = try await control.challenge()
    let proof = OTAProof.proof(key: key, challenge: challenge, hardware: info.hardware)
    do throws(UpdateFault) {
      _ = try await control.perform(.authorize(proof: proof), .authorize)
    } catch {
      throw error == .declined(.authorize, .otaService(.wrongProof)) ? .wrongKey : error
    }
  }

  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    switch try await negotiation.delivery(of: plan, restart: restart) {
    case .image(let obstacle, let unused):
      return try await prepareImage(plan, restart: restart, obstacle, unused)
    case .stream(let sent): return try await prepareStream(sent, plan, restart: restart)
    case .refuse(let obstacle): throw .noPatch(obstacle)
    }
  }

  private func prepareImage(
    _ plan: UpdatePlan, restart: Bool, _ obstacle: PatchObstacle?, _ unused: PatchObstacle?
  ) async throws(UpdateFault) -> PreparedUpload {
    retained.update { $0.sent = .image(obstacle, unused: unused) }
    let prefixes = PrefixChecksums(plan.image.bytes)
    let mayContinue =
      !restart && device.otaService?.resumePoint?.isPrefix(of: prefixes, plan.image) ?? true
    let position = try await position(in: prefixes, restart: !mayContinue) {
      (restart) async throws(UpdateFault) in try await begin(plan, restart: restart)
    }
    if let obstacle, info.takesPatches {
      var report = DeliveryReport(
        content: .image, bytes: prefixes.count, imageSize: prefixes.count,
        obstacle: .patch(obstacle))
      report.unused = unused.map(DeliveryObstacle.patch)
      context.deliver(report)
    }
    return upload(of: .image(prefixes), from: position.nextOffset)
  }

  /// Announces the stream, and resumes at the device's offset.
  private func prepareStream(
    _ sent: OTASentStream, _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let stream = sent.stream
    let mayContinue = !restart && negotiation.holdsPart(of: stream)
    let position = try await position(in: stream.bytes, restart: !mayContinue) {
      (restart) async throws(UpdateFault) in
      try await negotiation.announce(stream)
      return try await begin(plan, restart: restart, .patch)
    }
    retained.update { $0.sent = .stream(sent) }
    context.deliver(DeliveryReport(sent))
    return upload(of: .stream(stream), from: position.nextOffset)
  }

  /// Starts the transfer, and checks that the held bytes are the start of the content.
  private func position(
    in bytes: PrefixChecksums, restart: Bool,
    _ begin: (_ restart: Bool) async throws(UpdateFault) -> OTAPosition
  ) async throws(UpdateFault) -> OTAPosition {
    var position = try await begin(restart)
    if !position.agrees(with: bytes) {
      // The held bytes belong to other content: restart the transfer once.
      position = try await begin(true)
    }
    guard position.agrees(with: bytes) else {
      throw .protocolViolation(
        .prepare, "after a request to start over, it reports \(position.nextOffset) bytes")
    }
    return position
  }

  private func begin(
    _ plan: UpdatePlan, restart: Bool, _ own: OTABegin.Flags = []
  ) async throws(UpdateFault) -> OTAPosition {
    var flags = own
    if restart { flags.insert(.restart) }
    if plan.allowsDowngrade { flags.insert(.allowDowngrade) }
    if plan.allowsOtherHardware { flags.insert(.allowOtherHardware) }
    let begin = OTABegin(
      flags: flags, imageSize: plan.image.bytes.count, imageCRC32: plan.image.crc32,
      version: plan.version, hardware: plan.hardware)
    return try await control.position(.begin(begin), .prepare)
  }

  private func upload(of payload: OTAPayload, from offset: Int) -> PreparedUpload {
    PreparedUpload(
      from: payload.imageBytesHeld(ofFirst: offset), making: payload.imageBytes(ofFirst: offset)
    ) { () async throws(UpdateFault) in
      try await send(payload, from: offset)
    }
  }

  /// Sends the bytes starting at `offset`, and measures how the time is spent.
  func send(_ payload: OTAPayload, from offset: Int) async throws(UpdateFault) {
    try await context.measuring(path.mode, over: client) { () async throws(UpdateFault) in
      var upload = OTAUpload(of: payload, from: offset, over: self)
      try await upload.run()
    }
  }

  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    let limit = max(
      context.options.controlLimit,
      info.verifyLimit(imageSize: image.bytes.count, unwritten: bytesUnwritten))
    let answer = try await control.exchange(.verify, .verify, within: limit)
    let sentStream = retained.value.sentStream
    switch answer.result {
    case OTARefusal.checksumMismatch.rawValue where sentStream != nil:
      throw retained.givingUpPatches(.madeOtherImage)
    case OTARefusal.checksumMismatch.rawValue:
      throw .imageRejected(
        expectedCRC32: image.crc32, deviceCRC32: try crc32(of: answer.payload))
    case OTARefusal.wrongState.rawValue:
      // The device goes back if a page does not contain the written data, even while it writes the
      // last pages.
      let status = try await statuses.read()
      let payload =
        sentStream.map(OTAPayload.stream) ?? .image(PrefixChecksums(image.bytes))
      guard status.state == .receiving, status.nextOffset < payload.bytes.count else {
        throw retained.ending(.verify, status.note)
      }
      return .wanted(upload(of: payload, from: status.nextOffset))
    default:
      let found = try crc32(of: try control.payload(of: answer, .verify))
      guard found == image.crc32 else {
        throw .imageRejected(expectedCRC32: image.crc32, deviceCRC32: found)
      }
      return .verified
    }
  }

  /// The number of image bytes that the device may still have to write after the complete stream
  /// was sent: a few bytes in the device's buffer may create many pages.
  private var bytesUnwritten: Int {
    let retained = retained.value
    guard let stream = retained.sentStream else { return 0 }
    return stream.image.size - stream.imageBytesHeld(ofFirst: retained.durable)
  }

  private func crc32(of payload: [UInt8]) throws(UpdateFault) -> UInt32 {
    try decoding(.verify) { () throws(OTADecodeFault) -> UInt32 in
      var reader = ByteReader(payload, of: "VERIFY")
      return try reader.uint32()
    }
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    _ = try await control.perform(.activate, .activate)
  }

  /// Returns the time in which MCUboot swaps the slots; zero for images without MCUboot's format,
  /// whose bootloader needs no more time than `rebootLimit`.
  func startTime(of images: [FirmwareImage]) -> Duration {
    guard images.contains(where: { $0.mcuboot != nil }) else { return .zero }
    return PageMoves.limit(forBytes: info.slotSize)
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    RunningImage(try await control.running(.confirm), expecting: image)
  }

  func confirm(_ image: FirmwareImage) async throws(UpdateFault) {
    _ = try await control.perform(.confirm, .confirm)
  }

  func abandon() async throws(UpdateFault) {
    _ = try await control.perform(.abort(discard: false), .upload)
  }
}

extension OTAPosition {
  func agrees(with image: PrefixChecksums) -> Bool {
    nextOffset <= image.count && image.checksum(ofFirst: nextOffset) == crc32
  }
}
