import OtaflashATT
import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of patches for the real receiver with faults. If the receiver refuses a patch, the
/// complete image must follow once, and the report must contain the reason.
@Suite struct DeltaFaultTests {
  private let factory: [UInt8]
  private let old: FirmwareImage
  private let new: FirmwareImage
  private let running: ContentIdentity

  /// Creates two releases after the factory image; each is related to the previous image.
  init() throws {
    let profile = try SimulationProfile(parsing: "fast")
    factory = try SimulatedBoard(profile: profile, clock: VirtualTimeline().clock).runningImage()
    old = Self.release(of: Array(factory.prefix(40_000)), FirmwareVersion(1, 2, 5), every: 31)
    new = Self.release(of: old.bytes, FirmwareVersion(1, 3, 0), every: 23)
    running = ContentIdentity(of: old.bytes)
  }

  private static func release(
    of base: [UInt8], _ version: FirmwareVersion, every step: Int
  ) -> FirmwareImage {
    FirmwareImage(
      name: "release.bin", format: .binary,
      bytes: Array(base[..<6_000]) + [1, 2, 3]
        + base[6_000...].enumerated().map { $0 % step == 0 ? $1 &+ UInt8($0 % 251) : $1 },
      version: version, hardware: HardwareID(0xA001))
  }

  /// The flash of a board that was updated to the old image.
  private func board() throws -> FlashMemory {
    let storage = FlashMemory(size: try SimulationProfile(parsing: "fast").flashSize)
    #expect(try flash(old, onto: "fast", storage: storage).runningImage == old.bytes)
    return storage
  }

  private static func finder(_ images: [[UInt8]]) -> BaseFinder {
    BaseFinder { wanted in images.first { ContentIdentity(of: $0) == wanted } }
  }

  private func obstacle(_ base: String) -> PatchObstacle {
    switch base {
    case "lost", "damaged": .baseUnreadable
    case "former": .otherBase(expected: ContentIdentity(of: factory), running: running)
    default: .refused
    }
  }

  @Test(arguments: ["lost", "former", "damaged", "spoilt"], WriteMode.allCases)
  func theImageFollowsOnceAndTheReportStatesTheReason(_ base: String, _ mode: WriteMode) throws {
    let storage = try board()
    let obstacle = self.obstacle(base)
    let result = try flash(new, onto: "fast?base=\(base)", storage: storage) {
      ($0.mode, $0.patches.bases) = (mode, Self.finder([old.bytes, factory]))
    }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.runningImage == new.bytes)
    #expect(update.delivery?.content == .image && update.delivery?.obstacle == .patch(obstacle))
    // A device that does not report its base must receive no patch.
    let given = result.events.filter { $0 == .deliveryGivenUp(because: .patch(obstacle)) }
    #expect(given.count == (base == "lost" ? 0 : 1))
    #expect(result.counters.dataBytes < new.bytes.count + 12_000)
    #expect(result.counters.connections == 2 && result.flashFaults.isEmpty)
  }

  @Test(arguments: ["lost", "former", "damaged", "spoilt"])
  func aFailedRequiredPatchKeepsTheRunningImage(_ base: String) throws {
    let storage = try board()
    let result = try flash(new, onto: "fast?base=\(base)", storage: storage) {
      ($0.patches.policy, $0.patches.bases) = (.require, Self.finder([old.bytes, factory]))
    }
    let expected = UpdateFault.noPatch(self.obstacle(base))
    #expect(throws: expected) { try result.outcome.get() as UpdateResult }
    #expect(result.runningImage == old.bytes && result.flashFaults.isEmpty)
  }

  /// The error is in the flash, and not in the patch or the receiver.
  @Test(arguments: WriteMode.allCases)
  func aPageThatNeverHoldsItsDataIsReported(_ mode: WriteMode) throws {
    let result = try flash(new, onto: "fast?bad-block", storage: board()) {
      ($0.mode, $0.patches.bases) = (mode, Self.finder([old.bytes]))
    }
    #expect(throws: UpdateFault.declined(.upload, .otaService(.flashFault))) {
      try result.outcome.get() as UpdateResult
    }
    #expect(result.runningImage == old.bytes)
  }

  /// Bytes that change in transit must be detected and sent again. In some cases, the device
  /// returns to an earlier offset before the host requests it.
  @Test(arguments: WriteMode.allCases)
  func aWrongBitInAnyWriteIsCorrected(_ mode: WriteMode) throws {
    for number in 1...40 {
      let storage = try board()
      let profile = "fast?mtu=185&seed=\(number)&flip=\(number)"
      let result = try flash(new, onto: profile, storage: storage) {
        ($0.mode, $0.patches.bases) = (mode, Self.finder([old.bytes]))
      }
      let update = try result.outcome.get()
      #expect(update.isVerified, "\(profile), \(mode)")
      #expect(result.runningImage == new.bytes && result.flashFaults.isEmpty)
      // A wrong bit costs at most one part, not the complete image.
      #expect(update.delivery?.content == .difference(base: running), "\(profile), \(mode)")
    }
  }

  /// A few bytes in the device's buffer create many pages, and each erase takes as long as the
  /// document permits. During this time no number in Status rises.
  @Test(arguments: WriteMode.allCases, ["2K", "8K"])
  func theHostWaitsForTheSlowestFlash(_ mode: WriteMode, _ ring: String) throws {
    let storage = try board()
    let image = FirmwareImage(
      name: "new.bin", format: .binary, bytes: Array(old.bytes.dropLast(7)),
      version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001))
    let result = try flash(image, onto: "plain?erase=20s&ring=\(ring)", storage: storage) {
      ($0.mode, $0.patches.bases) = (mode, Self.finder([old.bytes]))
    }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.runningImage == image.bytes)
    #expect(update.delivery?.content == .difference(base: running) && update.resumes == 0)
  }

  /// Between the parts of a transfer, the device receives data of another transfer: a patch, the
  /// uncompressed image, or a patch to another image.
  @Test(arguments: [
    ["patch", "image", "patch"], ["image", "patch", "image"], ["patch", "other", "patch"],
    ["other", "image", "other", "patch"],
  ])
  func dataOfOtherHostsIsDiscarded(_ runs: [String]) throws {
    let storage = try board()
    let other = FirmwareImage(
      name: "other.bin", format: .binary, bytes: Array(old.bytes.dropFirst(40).reversed()),
      version: FirmwareVersion(1, 2, 9), hardware: HardwareID(0xA001))
    for (index, run) in runs.enumerated() {
      let isLast = index == runs.count - 1
      let result = try flash(
        run == "other" ? other : new, onto: "plain?interval=50ms&mtu=50", storage: storage,
        {
          ($0.mode, $0.chunk, $0.patches.bases) = (.withResponse, 20, Self.finder([old.bytes]))
          if run == "image" { $0.patches.policy = .never }
        }, cancelAfter: isLast ? nil : .seconds(9))
      guard isLast else {
        #expect(throws: UpdateFault.self) { try result.outcome.get() as UpdateResult }
        continue
      }
      #expect(try result.outcome.get().isVerified && result.runningImage == new.bytes)
      #expect(result.flashFaults.isEmpty)
    }
  }
}
