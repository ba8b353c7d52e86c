import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of prebuilt patches on complete boards: a patch must never cause another image to run.
@Suite struct PrebuiltPatchTests {
  private static let old = image(size: 40_000, version: FirmwareVersion(1, 2, 5), seed: 7)
  /// The release before the old one. A patch against it needs bytes that the old image does not
  /// have.
  private static let other = FirmwareImage(
    name: "other.bin", format: .binary,
    bytes: old.bytes.enumerated().map { $0 % 31 == 5 ? $1 ^ 0x55 : $1 },
    version: FirmwareVersion(1, 2, 4), hardware: HardwareID(0xA001))
  private static let new = FirmwareImage(
    name: "new.bin", format: .binary,
    bytes: Array(old.bytes[..<6_000]) + [1, 2, 3]
      + old.bytes[6_000...].enumerated().map { $0 % 23 == 0 ? $1 &+ UInt8($0 % 251) : $1 },
    version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))
  private static let size = new.bytes.count

  private static func file(
    from base: FirmwareImage = old, codec: PatchCodec = .crle
  ) -> [UInt8] {
    Patch(from: PatchBase(base.bytes), to: new.bytes[...], codec: codec).bytes
  }

  private func board(_ profile: String = "plain") throws -> FlashMemory {
    let storage = FlashMemory(size: try SimulationProfile(parsing: profile).flashSize)
    let first = try flash(Self.old, onto: profile, storage: storage)
    #expect(first.runningImage == Self.old.bytes)
    return storage
  }

  private func update(
    _ storage: FlashMemory, with patch: PrebuiltPatch, profile: String = "plain",
    bases: [FirmwareImage] = [], _ policy: DeltaPolicy = .auto
  ) throws -> BenchResult {
    try flash(Self.new, onto: profile, storage: storage) {
      ($0.patches.prebuilt, $0.patches.policy) = (patch, policy)
      $0.patches.bases = BaseFinder { wanted in
        bases.first { ContentIdentity(of: $0.bytes) == wanted }?.bytes
      }
    }
  }

  /// Only the device knows whether the patch matches its base.
  @Test(arguments: [PatchCodec.crle, .heatshrink(HeatshrinkParameters(window: 8, lookahead: 7)!)])
  func aPrebuiltPatchNeedsNoBase(_ codec: PatchCodec) throws {
    let file = Self.file(codec: codec)
    for policy in [DeltaPolicy.auto, .require] {
      let result = try update(try board(), with: try PrebuiltPatch(file), policy)
      let update = try result.outcome.get()
      #expect(result.runningImage == Self.new.bytes && update.isVerified)
      // The header of the patch's only part, and the unchanged file.
      #expect(update.bytesSent == file.count + 16 && update.bytesMade == Self.size)
      #expect(
        update.delivery?.content == .difference(base: ContentIdentity(of: Self.old.bytes))
          && update.delivery?.unused == nil && update.delivery?.obstacle == nil)
    }
  }

  @Test func theHeaderOfESPIsNotSent() throws {
    let file = [0x10, 0xDE, 0xCD, 0xFC] + [UInt8](repeating: 7, count: 60) + Self.file()
    let result = try update(try board(), with: try PrebuiltPatch(file))
    #expect(try result.outcome.get().bytesSent == file.count - 64 + 16)
    #expect(result.runningImage == Self.new.bytes)
  }

  /// Only the device can detect the mismatch. Then the complete image follows; if a patch is
  /// required, the update fails.
  @Test func aPatchForAnotherBaseCreatesNoImage() throws {
    let patch = try PrebuiltPatch(Self.file(from: Self.other))
    let result = try update(try board(), with: patch)
    let update = try result.outcome.get()
    #expect(update.delivery?.content == .image && result.runningImage == Self.new.bytes)
    #expect(update.delivery?.obstacle?.isVerdictOfDevice == true)
    let required = try self.update(try board(), with: patch, .require)
    #expect(required.outcome == .failure(.noPatch(.refused)))
    #expect(required.runningImage == Self.old.bytes)
  }

  /// If the host has the base, it detects the mismatch, and sends no byte of the patch.
  @Test func aPatchForAnotherBaseIsDetectedBeforeTheTransfer() throws {
    let patch = try PrebuiltPatch(Self.file(from: Self.other))
    let obstacle = PatchObstacle.givenForAnother(running: ContentIdentity(of: Self.old.bytes))
    let result = try update(try board(), with: patch, bases: [Self.old])
    let delivery = try #require(try result.outcome.get().delivery)
    #expect(delivery.unused == .patch(obstacle) && delivery.isShortened && delivery.obstacle == nil)
    let required = try update(try board(), with: patch, bases: [Self.old], .require)
    #expect(required.outcome == .failure(.noPatch(obstacle)))
    #expect(!required.events.contains { if case .transferBegan = $0 { true } else { false } })
  }

  /// The patch was applied to a base that the device does not run.
  @Test func aBaseThatDoesNotRunIsReportedBeforeTheTransfer() throws {
    var patch = try PrebuiltPatch(Self.file(from: Self.other))
    try patch.check(makes: Self.new.bytes, of: Self.other.bytes)
    let obstacle = PatchObstacle.otherBase(
      expected: ContentIdentity(of: Self.other.bytes), running: ContentIdentity(of: Self.old.bytes))
    let required = try update(try board(), with: patch, .require)
    #expect(required.outcome == .failure(.noPatch(obstacle)))
    let result = try update(try board(), with: patch)
    #expect(try result.outcome.get().delivery?.unused == .patch(obstacle))
    #expect(result.runningImage == Self.new.bytes)
  }

  @Test func aDeviceWithoutTheDecoderReceivesAnotherDelivery() throws {
    let codec = PatchCodec.heatshrink(HeatshrinkParameters(window: 12, lookahead: 8)!)
    let patch = try PrebuiltPatch(Self.file(codec: codec))
    let obstacle = PatchObstacle.givenNotUnderstood("heatshrink 12,8")
    let required = try update(try board(), with: patch, .require)
    #expect(required.outcome == .failure(.noPatch(obstacle)))
    let result = try update(try board(), with: patch, bases: [Self.old])
    let delivery = try #require(try result.outcome.get().delivery)
    #expect(delivery.unused == .patch(obstacle) && delivery.isShortened)
    #expect(result.runningImage == Self.new.bytes)
  }

  @Test func aDeviceWithoutPatchesReceivesTheImageWithAReport() throws {
    let result = try update(
      try board("plain?delta=no"), with: try PrebuiltPatch(Self.file()), profile: "plain?delta=no")
    let update = try result.outcome.get()
    #expect(update.delivery?.obstacle == .patch(.notUnderstood) && update.bytesSent == Self.size)
    #expect(result.runningImage == Self.new.bytes)
  }

  @Test func aPrebuiltPatchIsResumed() throws {
    let patch = try PrebuiltPatch(Self.file())
    let storage = try board("fast")
    let result = try update(storage, with: patch, profile: "fast?cut-at-pdu=40")
    let update = try result.outcome.get()
    #expect(result.runningImage == Self.new.bytes && update.delivery?.obstacle == nil)
    #expect(update.bytesSent < 2 * patch.bytes.count)
  }

  /// One bit is changed: the file is not a patch, or the device detects the change. At the end, the
  /// given image must run. If a patch is required, the old image may also keep running.
  @Test func aWrongBitNeverStartsAnotherImage() throws {
    let file = Self.file()
    let storage = try board("fast")
    func copy() -> FlashMemory {
      let copy = FlashMemory(size: storage.size)
      copy.write(storage.read(0..<storage.size), at: 0)
      return copy
    }
    var sent = 0
    for bit in stride(from: 0, to: 8 * file.count, by: 8 * file.count / 40 + 1) {
      var bytes = file
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let damaged: PrebuiltPatch
      do throws(PrebuiltPatchFault) {
        damaged = try PrebuiltPatch(bytes)
      } catch {
        continue
      }
      sent += 1
      let result = try update(copy(), with: damaged, profile: "fast")
      #expect(result.runningImage == Self.new.bytes, "bit \(bit)")
      let required = try update(copy(), with: damaged, profile: "fast", .require)
      #expect(
        required.runningImage == Self.old.bytes || required.runningImage == Self.new.bytes,
        "bit \(bit)")
    }
    #expect(sent > 10)
  }

  // MARK: Files

  @Test func aFileThatIsNotAPatchIsReportedWithTheReason() throws {
    let file = Self.file()
    func fault(_ bytes: [UInt8], image: [UInt8] = Self.new.bytes, base: [UInt8]? = nil) -> String {
      do throws(PrebuiltPatchFault) {
        var patch = try PrebuiltPatch(bytes)
        try patch.check(makes: image, of: base)
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(fault(file) == "" && fault(file, base: Self.old.bytes) == "")
    #expect(fault([]) == "it is empty")
    #expect(fault(Array(file.dropLast(9))).hasSuffix("it is truncated: the image is not complete"))
    #expect(fault(file + [0]).contains("after the end of the patch"))
    #expect(fault(Self.new.bytes).hasPrefix("it is not a complete patch: offset "))
    #expect(
      fault(file, image: Self.old.bytes)
        == "it creates \(Self.size) bytes, but the image has \(Self.old.bytes.count)")
    #expect(fault(file, base: Self.other.bytes).hasPrefix("applied to the base"))
    #expect(fault(file, image: Self.new.bytes.reversed(), base: Self.old.bytes) != "")
  }
}
