import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of patches for complete boards, with the real receiver, its flash, its bootloader, and
/// power failures.
@Suite struct DeltaBoardTests {
  private static let old = UpdateTests.image(
    size: 40_000, version: FirmwareVersion(1, 2, 5), seed: 7)
  /// A release in which some bytes are changed and some are new.
  private static let new = FirmwareImage(
    name: "new.bin", format: .binary,
    bytes: Array(old.bytes[..<6_000]) + [1, 2, 3]
      + old.bytes[6_000...].enumerated().map { $0 % 23 == 0 ? $1 &+ UInt8($0 % 251) : $1 },
    version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))

  private static let bases = BaseFinder { wanted in
    ContentIdentity(of: old.bytes) == wanted ? old.bytes : nil
  }

  /// The flash of a board that runs the old image.
  private func board(_ profile: String) throws -> FlashMemory {
    let storage = FlashMemory(size: try SimulationProfile(parsing: profile).flashSize)
    let first = try flash(Self.old, onto: profile, storage: storage)
    #expect(first.runningImage == Self.old.bytes)
    return storage
  }

  @Test(arguments: WriteMode.allCases, ["plain", "plain?erase-ahead=yes"])
  func theNextImageIsSentAsAPatch(_ mode: WriteMode, _ profile: String) throws {
    let storage = try board("plain")
    let result = try flash(Self.new, onto: profile, storage: storage) {
      ($0.mode, $0.patches.bases) = (mode, Self.bases)
    }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.runningImage == Self.new.bytes)
    #expect(update.delivery?.content == .difference(base: ContentIdentity(of: Self.old.bytes)))
    #expect(update.bytesSent < 8_000 && result.flashFaults.isEmpty)
  }

  @Test func aBoardWithoutPatchesReceivesTheImage() throws {
    let storage = try board("plain?delta=no")
    let result = try flash(Self.new, onto: "plain?delta=no", storage: storage) {
      $0.patches.bases = Self.bases
    }
    let update = try result.outcome.get()
    #expect(update.delivery == nil && update.bytesSent == Self.new.bytes.count)
    #expect(result.runningImage == Self.new.bytes)
  }

  /// The link ends at PDUs that are distributed over a run without faults. The number of bytes that
  /// are sent again must be smaller than the size of the stream.
  @Test func theLinkMayEndAnywhere() throws {
    for cut in stride(from: 5, through: 95, by: 6) {
      let storage = try board("fast")
      let result = try flash(Self.new, onto: "fast?cut-at-pdu=\(cut)", storage: storage) {
        $0.patches.bases = Self.bases
      }
      let update = try result.outcome.get()
      #expect(update.isVerified && result.runningImage == Self.new.bytes, "cut at PDU \(cut)")
      let delivery = try #require(update.delivery)
      #expect(delivery.obstacle == nil && update.bytesSent < 2 * delivery.bytes, "at \(cut)")
    }
  }

  /// A slow processor takes time for each page that it decodes, so the update by a patch takes
  /// longer by this time. The image itself is not decoded.
  @Test func aSlowDecoderDelaysOnlyPatches() throws {
    let slow = "fast?decode=8K"
    func took(_ profile: String, _ policy: DeltaPolicy) throws -> Double {
      let result = try flash(Self.new, onto: profile, storage: try board("fast")) {
        $0.patches.bases = Self.bases
        $0.patches.policy = policy
      }.outcome.get()
      #expect(result.isVerified)
      return (result.uploadTook + result.verifyTook) / .seconds(1)
    }
    let expected = Double(Self.new.bytes.count) / 8192
    let difference = try took(slow, .require) - took("fast", .require)
    #expect(abs(difference - expected) < 0.2 * expected, "\(difference)")
    #expect(try abs(took(slow, .never) - took("fast", .never)) < 0.01)
  }

  /// The device loses its power at flash operations that are distributed over the update, and must
  /// still create the image.
  @Test func theDeviceMayResetAnywhere() throws {
    for operation in stride(from: 1, through: 60, by: 4) {
      let storage = try board("fast")
      let profile = "fast?reset-at-flash-op=\(operation)"
      var result = try flash(Self.new, onto: profile, storage: storage) {
        $0.patches.bases = Self.bases
      }
      if case .failure(.oldVersionStillRuns) = result.outcome {
        result = try flash(Self.new, onto: "fast", storage: storage) {
          $0.patches.bases = Self.bases
        }
      }
      #expect(try result.outcome.get().isVerified, "reset at \(operation)")
      #expect(result.runningImage == Self.new.bytes, "reset at \(operation)")
    }
  }

  /// The board was restarted, so the transfer resumes at the start of a part. An image of this size
  /// has four parts.
  @Test func aCancelledPatchIsResumedByTheNextRun() throws {
    let profile = "plain?slot=256K"
    let old = UpdateTests.image(size: 160_000, version: FirmwareVersion(1, 2, 5), seed: 7)
    let bytes = old.bytes.enumerated().map { $0 % 23 == 0 ? $1 &+ UInt8($0 % 251) : $1 }
    let new = FirmwareImage(
      name: "new.bin", format: .binary, bytes: bytes, version: FirmwareVersion(1, 3, 0),
      hardware: HardwareID(0xA001))
    let storage = FlashMemory(size: try SimulationProfile(parsing: profile).flashSize)
    #expect(try flash(old, onto: profile, storage: storage).outcome.get().isVerified)
    let slow: (inout UpdateOptions) -> Void = {
      ($0.mode, $0.chunk) = (.withResponse, 8)
      $0.patches.bases = BaseFinder { $0 == ContentIdentity(of: old.bytes) ? old.bytes : nil }
    }
    let first = try flash(new, onto: profile, storage: storage, slow, cancelAfter: .seconds(40))
    #expect(throws: UpdateFault.self) { try first.outcome.get() as UpdateResult }
    let second = try flash(new, onto: profile, storage: storage, slow)
    let update = try second.outcome.get()
    #expect(update.resumes == 1 && second.runningImage == new.bytes)
    #expect(update.bytesSent < update.delivery?.bytes ?? 0, "\(update.bytesSent)")
    // Parts are complete pages, and the device holds no data of the interrupted part.
    let beginnings = second.events.compactMap { event -> Int? in
      if case .transferBegan(let offset, _, _) = event { offset } else { nil }
    }
    #expect(
      beginnings.count == 1 && beginnings.allSatisfy { $0 > 0 && $0 % 4096 == 0 },
      "\(beginnings), \(update.delivery?.bytes ?? 0)")
  }

  /// After an update, the slot holds the previous image. If only a few bytes change again, most
  /// pages hold their data already.
  @Test(arguments: [WriteMode.auto, .withResponse])
  func pagesThatHoldTheirDataAreNotWritten(_ mode: WriteMode) throws {
    let images = (0..<4).map { number in
      var bytes = UpdateTests.image(size: 160_000, seed: 3).bytes
      for (offset, byte) in [512: 1, 80_000: 2, 80_001: 3] { bytes[offset] = UInt8(byte + number) }
      return FirmwareImage(
        name: "app.bin", format: .binary, bytes: bytes,
        version: FirmwareVersion(1, 3, UInt16(number)), hardware: HardwareID(0xA001))
    }
    func erased(_ settings: String) throws -> [Int] {
      let profile = "plain?slot=256K&" + settings
      let storage = FlashMemory(size: try SimulationProfile(parsing: profile).flashSize)
      return try images.map { image in
        let result = try flash(image, onto: profile, storage: storage) { options in
          options.mode = mode
          options.patches.bases = BaseFinder { wanted in
            images.map(\.bytes).first { ContentIdentity(of: $0) == wanted }
          }
        }
        #expect(try result.outcome.get().isVerified && result.runningImage == image.bytes)
        #expect(result.flashFaults.isEmpty)
        return result.counters.flash.erases
      }
    }
    let (all, kept) = (try erased("keep-pages=no"), try erased("keep-pages=yes"))
    // The first two images are written to empty slots.
    #expect(all[2] >= 40 && all[3] >= 40, "\(all)")
    #expect(kept[2] <= all[2] * 15 / 100 && kept[3] <= all[3] * 15 / 100, "\(kept) of \(all)")
  }
}
