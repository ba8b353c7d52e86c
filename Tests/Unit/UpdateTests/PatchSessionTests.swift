import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of a device that supports patches, and of the data written to it.
@Suite struct PatchSessionTests {
  private static let old = image(size: 20_000, seed: 7).bytes
  /// The next release, in which some bytes are changed and some are new.
  private static let new = FirmwareImage(
    name: "new.bin", format: .binary,
    bytes: Array(old[..<6_000]) + [1, 2, 3]
      + old[6_000...].enumerated().map { $0 % 37 == 0 ? $1 &+ UInt8($0 % 251) : $1 },
    version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))

  private struct Run {
    let outcome: Result<UpdateResult, UpdateFault>
    let events: [UpdateEvent]
    let device: PatchDevice

    var deliveries: [DeliveryReport] {
      events.compactMap { if case .delivery(let report) = $0 { report } else { nil } }
    }
    var beginnings: [Int] {
      events.compactMap { if case .transferBegan(let at, _, _) = $0 { at } else { nil } }
    }
  }

  private func update(
    _ script: PatchDevice.Script = PatchDevice.Script(), bases: [[UInt8]] = [old],
    to image: FirmwareImage = new, _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> Run {
    try update(PatchDevice(running: Self.old, script), bases: bases, to: image, adjust)
  }

  private func update(
    _ device: PatchDevice, bases: [[UInt8]], to image: FirmwareImage = new,
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> Run {
    var options = UpdateOptions()
    options.patches.bases = BaseFinder { wanted in bases.first { ContentIdentity(of: $0) == wanted }
    }
    adjust(&options)
    let log = EventLog()
    let update = FirmwareUpdate(image: image, options: options) { log.note($0) }
    let outcome = try VirtualTimeline().run { clock in
      await withTaskGroup(of: Void.self) { group in
        let links = device.open()
        group.addTask { await device.run(links, on: clock) }
        let outcome: Result<UpdateResult, UpdateFault>
        do throws(UpdateFault) {
          outcome = .success(try await update.run(on: device.dialer, clock: clock))
        } catch {
          outcome = .failure(error)
        }
        group.cancelAll()
        return outcome
      }
    }
    return Run(outcome: outcome, events: log.all, device: device)
  }

  @Test func aKnownBaseLeadsToAPatchAutomatically() throws {
    let run = try update()
    let result = try run.outcome.get()
    #expect(result.isVerified && run.device.running == Self.new.bytes)
    #expect(result.delivery?.content == .difference(base: ContentIdentity(of: Self.old)))
    #expect(result.delivery?.obstacle == nil && result.bytesMade == Self.new.bytes.count)
    #expect(result.bytesSent == result.delivery?.bytes && result.bytesSent < 5_000)
    #expect(run.device.dataBytes == result.bytesSent)
  }

  /// The requests and their order in docs/ota-service.md, 13, and the content of PATCH and BEGIN.
  @Test func theRequestsMatchTheDocument() throws {
    let run = try update()
    #expect(
      Array(run.device.opcodes.prefix(9)) == [
        0x01, 0x02, 0x03, 0x0D, 0x0F, 0x0E, 0x06, 0x08, 0x09,
      ])
    let report = try #require(run.deliveries.first)
    let patch = run.device.requests[5]
    let base = OTAPatch(
      base: OTABase(size: 20_000, crc32: CRC32.checksum(Self.old)), streamSize: report.bytes,
      streamCRC32: 0)
    #expect(patch.prefix(13) == OTARequest.patch(base).encoded.prefix(13))
    // A device that holds no data is requested to start from the beginning. The data is a patch;
    // size and CRC32 are those of the image.
    var begin = OTABegin(
      flags: [.restart, .patch], imageSize: Self.new.bytes.count, imageCRC32: Self.new.crc32,
      version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))
    #expect(run.device.requests[6] == OTARequest.begin(begin).encoded)
    begin.flags = []
    let plain = try update { $0.patches.policy = .never }
    #expect(plain.device.requests[3] == OTARequest.begin(begin).encoded)
  }

  /// If the device does not support patches, or the caller disables them, the host sends only the
  /// requests of version 1 without patches.
  @Test(arguments: [DeltaPolicy.auto, .never])
  func withoutSupportNothingAboutPatchesIsSent(_ policy: DeltaPolicy) throws {
    let run = try update(.init(takesPatches: policy == .never)) { $0.patches.policy = policy }
    let result = try run.outcome.get()
    #expect(Array(run.device.opcodes.prefix(6)) == [0x01, 0x02, 0x03, 0x06, 0x08, 0x09])
    #expect(run.device.opcodes.allSatisfy { $0 < 0x0C } && run.deliveries.isEmpty)
    #expect(result.delivery == nil && result.bytesSent == Self.new.bytes.count)
  }

  @Test func withoutABaseTheImageIsSentAndTheReportStatesTheReason() throws {
    let run = try update(bases: [])
    let result = try run.outcome.get()
    // Random bytes cannot be compressed.
    #expect(result.delivery?.content == .image && result.bytesSent == Self.new.bytes.count)
    #expect(result.delivery?.obstacle == .patch(.baseUnknown(ContentIdentity(of: Self.old))))
    #expect(run.device.running == Self.new.bytes)
  }

  @Test func withoutABaseACompressibleImageIsCompressed() throws {
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 9 % 7) }
    let image = FirmwareImage(
      name: "x", format: .binary, bytes: bytes, version: FirmwareVersion(1, 3, 0),
      hardware: HardwareID(0xA001))
    let run = try update(bases: [], to: image)
    let result = try run.outcome.get()
    #expect(result.delivery?.content == .compressed && result.bytesSent < 15_000)
    #expect(run.device.running == bytes && result.bytesMade == 20_000)
  }

  /// PATCH INFO reports no base. If RUNNING reports an image, the host concludes that the image
  /// cannot be read; otherwise, that the device does not report its running image.
  @Test(arguments: [false, true])
  func aDeviceThatReportsNoBaseReceivesNoPatch(_ namesRunning: Bool) throws {
    let run = try update(.init(tellsBase: false, namesRunning: namesRunning))
    #expect(
      try run.outcome.get().delivery?.obstacle
        == .patch(namesRunning ? .baseUnreadable : .baseNotTold))
    #expect(run.device.running == Self.new.bytes)
  }

  /// After result 0F, after error 6, and after a wrong image at the end, the complete image follows
  /// once.
  @Test(arguments: ["other base", "refused", "other image"])
  func theImageFollowsAFailedPatch(_ what: String) throws {
    var script = PatchDevice.Script()
    let obstacle: PatchObstacle
    switch what {
    case "other base":
      script.runsAnother = true
      let reported = ContentIdentity(size: 64, crc32: CRC32.checksum(Self.old))
      obstacle = .otherBase(expected: ContentIdentity(of: Self.old), running: reported)
    case "refused":
      script.refusesAt = 200
      obstacle = .refused
    default:
      script.spoils = true
      obstacle = .madeOtherImage
    }
    let run = try update(script)
    let result = try run.outcome.get()
    #expect(result.isVerified && run.device.running == Self.new.bytes)
    #expect(result.delivery?.content == .image && result.delivery?.obstacle == .patch(obstacle))
    #expect(run.events.contains(.deliveryGivenUp(because: .patch(obstacle))))
    #expect(run.device.opcodes.count { $0 == 0x0E } == 1, "a patch is tried once")
    #expect(run.device.dataBytes < Self.new.bytes.count + 5_000)
    // The update uses one connection; the second connection is for the verification.
    #expect(run.device.opcodes.count { $0 == 0x01 } == 2)
  }

  @Test(arguments: [false, true])
  func onlyTheRequiredPatchMayBeSent(_ isThere: Bool) throws {
    let run = try update(bases: isThere ? [Self.old] : []) { $0.patches.policy = .require }
    if isThere {
      #expect(try run.outcome.get().delivery?.obstacle == nil)
      return
    }
    let obstacle = PatchObstacle.baseUnknown(ContentIdentity(of: Self.old))
    #expect(throws: UpdateFault.noPatch(obstacle)) { try run.outcome.get() as UpdateResult }
    #expect(!run.device.opcodes.contains(0x06) && run.device.dataBytes == 0)
  }

  @Test(arguments: [PatchDevice.Script(refusesAt: 200), PatchDevice.Script(spoils: true)])
  func aFailedRequiredPatchEndsTheUpdate(_ script: PatchDevice.Script) throws {
    let run = try update(script) { $0.patches.policy = .require }
    let obstacle: PatchObstacle = script.spoils ? .madeOtherImage : .refused
    #expect(throws: UpdateFault.noPatch(obstacle)) { try run.outcome.get() as UpdateResult }
    #expect(run.device.running == Self.old)
  }

  @Test func aRequiredPatchIsRefusedForADeviceWithoutPatches() throws {
    let run = try update(.init(takesPatches: false)) { $0.patches.policy = .require }
    #expect(throws: UpdateFault.noPatch(.notUnderstood)) { try run.outcome.get() as UpdateResult }
  }

  /// After a lost link, no byte of a stream is sent again. The progress is reported in bytes of the
  /// image.
  @Test func aStreamResumesAfterALostLink() throws {
    let run = try update(.init(cuts: [150, 400]))
    let result = try run.outcome.get()
    #expect(result.resumes == 2 && run.device.running == Self.new.bytes)
    #expect(run.device.dataBytes == result.delivery?.bytes)
    let beginnings = run.beginnings
    try #require(beginnings.count == 3 && beginnings[0] == 0)
    #expect(beginnings[0] < beginnings[1] && beginnings[1] < beginnings[2])
    // The offset reported after an interruption is at most the offset of the next connection, and
    // is at a page boundary.
    let kept = run.events.compactMap { event -> Int? in
      if case .linkLost(_, let acknowledged, _, _) = event { acknowledged } else { nil }
    }
    #expect(kept.count >= 2 && zip(kept, beginnings[1...]).allSatisfy { 0 < $0 && $0 <= $1 })
    #expect((kept.prefix(2) + beginnings).allSatisfy { $0 % PatchDevice.pageSize == 0 })
    #expect(result.bytesMade == Self.new.bytes.count)
  }

  /// The decision applies to the complete update: the image resumes at its offset.
  @Test func theImageResumesAfterALostLink() throws {
    let run = try update(.init(cuts: [12_000]), bases: [])
    let result = try run.outcome.get()
    #expect(result.resumes == 1 && run.device.dataBytes == Self.new.bytes.count)
    #expect(!run.device.opcodes.contains(0x0E))
  }

  @Test func aRestartedDeviceReceivesThePartAgain() throws {
    let run = try update(.init(cuts: [400], restarts: true))
    let result = try run.outcome.get()
    #expect(run.device.running == Self.new.bytes && result.delivery?.obstacle == nil)
    #expect(run.beginnings == [0, 0])
  }

  /// Acknowledged bytes that the device has lost again do not count as progress, regardless of
  /// their number.
  @Test func repeatedRestartsOfTheDeviceEndTheUpdate() throws {
    let cuts = (0..<60).map { $0 % 2 == 0 ? 200 : 400 }
    let run = try update(.init(cuts: cuts, restarts: true))
    guard case .failure(.linkLost) = run.outcome else {
      Issue.record("\(run.outcome)")
      return
    }
    #expect(run.beginnings.count == UpdateOptions().reconnection.attemptsMaximum + 1)
  }

  /// Regardless of the speed and the losses of a link, an update that makes progress on each
  /// connection is completed.
  @Test func repeatedLossesWithProgressDoNotEndTheUpdate() throws {
    let run = try update(.init(cuts: (1...40).map { $0 * 12 })) { $0.chunk = 12 }
    let result = try run.outcome.get()
    #expect(run.beginnings.count == 41 && run.device.running == Self.new.bytes)
    #expect(run.device.dataBytes == result.delivery?.bytes)
  }

  /// A refused request about patches must not prevent an update by the complete image.
  @Test(arguments: [0x0D, 0x0E, 0x0F] as [UInt8])
  func aDeviceThatRefusesItsOfferReceivesTheImage(_ opcode: UInt8) throws {
    let run = try update(.init(declines: [opcode: 1]))
    let result = try run.outcome.get()
    #expect(run.device.running == Self.new.bytes && result.delivery?.obstacle == .patch(.refused))
    #expect(result.delivery?.content == .image)
    let required = try update(.init(declines: [opcode: 1])) { $0.patches.policy = .require }
    #expect(throws: UpdateFault.noPatch(.refused)) {
      try required.outcome.get() as UpdateResult
    }
  }

  /// The notification contains the reason for the end of the session, or reports late data, so that
  /// only a read of Status returns the reason.
  @Test(arguments: [false, true])
  func aFlashFaultIsNotARefusalOfThePatch(_ tellsLateData: Bool) throws {
    let run = try update(
      .init(refusesAt: 200, refusal: .flashFault, tellsLateData: tellsLateData))
    #expect(throws: UpdateFault.declined(.upload, .otaService(.flashFault))) {
      try run.outcome.get() as UpdateResult
    }
  }

  @Test func anUnreportedRefusalIsDetected() throws {
    let run = try update(.init(refusesAt: 200, tellsLateData: true))
    #expect(try run.outcome.get().delivery?.obstacle == .patch(.refused))
    #expect(run.device.running == Self.new.bytes)
  }

  /// The next run creates the same stream, and continues at the device's offset in this stream.
  @Test func anotherRunCreatesTheSameStream() throws {
    let device = PatchDevice(running: Self.old, .init(cuts: [300]))
    let first = try update(device, bases: [Self.old]) { $0.reconnection = .none }
    #expect(throws: UpdateFault.self) { try first.outcome.get() as UpdateResult }
    let second = try update(device, bases: [Self.old])
    let result = try second.outcome.get()
    let began = try #require(second.beginnings.first)
    #expect(result.resumes == 1 && began > 0 && device.running == Self.new.bytes)
    #expect(device.dataBytes == result.delivery?.bytes)
    #expect(result.bytesMade == Self.new.bytes.count - began)
  }

  /// Another image is in transfer, so its stream is useless, and the device is requested to start
  /// from the beginning.
  @Test func theStreamOfAnotherImageIsDiscarded() throws {
    let other = FirmwareImage(
      name: "other.bin", format: .binary, bytes: Array(Self.old.dropFirst(40)),
      version: FirmwareVersion(1, 4, 0), hardware: HardwareID(0xA001))
    let device = PatchDevice(running: Self.old, .init(cuts: [60]))
    let first = try update(device, bases: [Self.old]) { $0.reconnection = .none }
    #expect(throws: UpdateFault.self) { try first.outcome.get() as UpdateResult }
    let second = try update(device, bases: [Self.old], to: other)
    #expect(try second.outcome.get().resumes == 0 && device.running == other.bytes)
  }

  /// The base is missing in the next run, so the complete image follows from its start.
  @Test func aRunWithoutTheBaseSendsTheImageFromItsStart() throws {
    let device = PatchDevice(running: Self.old, .init(cuts: [300]))
    let first = try update(device, bases: [Self.old]) { $0.reconnection = .none }
    #expect(throws: UpdateFault.self) { try first.outcome.get() as UpdateResult }
    let second = try update(device, bases: [])
    #expect(try second.outcome.get().delivery?.content == .image)
    #expect(device.running == Self.new.bytes && second.beginnings == [0])
  }

  @Test func aFinderWithWrongBytesFindsNoBase() throws {
    let run = try update(bases: []) { $0.patches.bases = BaseFinder { _ in [1, 2, 3] } }
    #expect(
      try run.outcome.get().delivery?.obstacle
        == .patch(.baseUnknown(ContentIdentity(of: Self.old))))
  }
}
