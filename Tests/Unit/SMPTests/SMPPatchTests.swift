import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of a simulated Zephyr device that has the OTA service in addition to SMP: it is updated by
/// a patch if the host has the running image, and otherwise by SMP.
@Suite struct SMPPatchTests {
  private typealias Board = SMPBoardTests

  private static let module = "slot=256K&mtu=247&interval=15ms&patches=yes"
  private static let withoutModule = "slot=256K&mtu=247&interval=15ms"

  /// The first release if `minor` is 0; otherwise, a release in which some bytes are changed and
  /// some are new.
  private static func release(_ minor: UInt8) throws -> FirmwareImage {
    let body = Array(bootableBytes(MCUbootVersion(2, 0, 0), size: 60_000)[32..<60_032])
    let changed =
      minor == 0
      ? body
      : Array(body[..<20_000]) + [1, 2, 3]
        + body[20_000...].enumerated().map { $0 % 301 == 0 ? $1 &+ minor : $1 }
    let version = MCUbootVersion(2, minor, 0)
    let bytes = bootableBytes(version, body: changed)
    return FirmwareImage(
      name: "app.bin", format: .binary, bytes: bytes, version: version.firmwareVersion,
      hardware: nil,
      content: .mcuboot(try MCUbootImage(decoding: bytes), place: MCUbootPlace()))
  }

  private static func bases(_ images: FirmwareImage...) -> BaseFinder {
    BaseFinder { wanted in images.map(\.bytes).first { ContentIdentity(of: $0) == wanted } }
  }

  /// The flash of a device that runs the first release. The release was sent over SMP, because the
  /// host does not have the factory image.
  private func device(_ settings: String = module) throws -> FlashMemory {
    let old = try Self.release(0)
    let result = try Board.flash(old, onto: settings) { $0.patches.bases = Self.bases(old) }
    #expect(try result.outcome.get().isVerified && result.running == old.bytes)
    #expect(try #require(result.protocols.first) == .smp)
    return result.storage
  }

  @Test func theNextReleaseIsSentAsAPatch() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(new, onto: Self.module, on: try device()) {
      $0.patches.bases = Self.bases(old)
    }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.running == new.bytes && result.flashFaults.isEmpty)
    #expect(update.delivery?.content == .difference(base: ContentIdentity(of: old.bytes)))
    #expect(update.bytesSent < 10_000)
    #expect(result.protocols == [.otaflash])
    // The image was confirmed, so a reset does not revert it.
    #expect(try result.imagesAfterReset() == [new.bytes])
  }

  /// The reason is reported, because a patch would have been shorter.
  @Test func withoutItsBaseTheDeviceIsUpdatedBySMP() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(new, onto: Self.module, on: try device()) {
      $0.patches.bases = BaseFinder.none
    }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.running == new.bytes && update.bytesSent > 60_000)
    #expect(result.protocols == [.smp])
    let obstacle = try #require(update.delivery?.obstacle?.patch)
    #expect(obstacle == .baseUnknown(ContentIdentity(of: old.bytes)))
  }

  @Test func withoutTheModuleTheDeviceIsUpdatedBySMP() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(
      new, onto: Self.withoutModule, on: try device(Self.withoutModule)
    ) { $0.patches.bases = Self.bases(old) }
    #expect(try result.outcome.get().isVerified && result.running == new.bytes)
    #expect(result.protocols == [.smp])
  }

  @Test(arguments: [UpdateProtocol.smp, .otaflash])
  func theUserMayChooseTheProtocol(_ chosen: UpdateProtocol) throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(new, onto: Self.module, on: try device()) {
      $0.patches.bases = Self.bases(old)
      $0.updateProtocol = chosen
      $0.allowsUnknown = true
    }
    #expect(try result.outcome.get().isVerified && result.running == new.bytes)
    #expect(result.protocols == [chosen])
  }

  @Test func patchesThatTheUserForbidsLeaveTheUpdateToSMP() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(new, onto: Self.module, on: try device()) {
      $0.patches = PatchOptions(.never)
      $0.patches.bases = Self.bases(old)
    }
    #expect(try result.outcome.get().isVerified && result.protocols == [.smp])
  }

  /// The device already runs the image; no service writes anything.
  @Test func theRunningImageIsNotSentAgain() throws {
    let old = try Self.release(0)
    let result = try Board.flash(old, onto: Self.module, on: try device())
    #expect(try result.outcome.get().outcome == .alreadyCurrent)
    #expect(result.protocols == [.otaflash])
  }

  /// The link ends during the patch; the next connection resumes over the same protocol.
  @Test(arguments: [1, 2, 3, 4])
  func aPatchResumesAfterALostLink(_ tenths: Int) throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    let result = try Board.flash(
      new, onto: Self.module + "&cut-after=\(tenths * 150)ms", on: try device()
    ) { $0.patches.bases = Self.bases(old) }
    let update = try result.outcome.get()
    #expect(update.isVerified && result.running == new.bytes && update.bytesSent < 20_000)
    #expect(result.protocols.allSatisfy { $0 == .otaflash })
  }

  /// The device loses its power at flash operations that are distributed over the update. The
  /// update resumes; or the device runs the old image, and a second update succeeds.
  @Test func theDeviceMayResetDuringAPatch() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    for operation in stride(from: 1, through: 260, by: 37) {
      var result = try Board.flash(
        new, onto: Self.module + "&reset-at-flash-op=\(operation)", on: try device()
      ) { $0.patches.bases = Self.bases(old) }
      if case .failure(.oldVersionStillRuns) = result.outcome {
        result = try Board.flash(new, onto: Self.module, on: result.storage) {
          $0.patches.bases = Self.bases(old)
        }
      }
      #expect(try result.outcome.get().isVerified, "reset at \(operation)")
      #expect(result.running == new.bytes, "reset at \(operation)")
    }
  }

  /// An update over SMP discards the received part of a patch, and a patch discards the received
  /// part of an update over SMP.
  @Test func theServiceThatStartedLastOwnsTheSlot() throws {
    let (old, new) = (try Self.release(0), try Self.release(1))
    var storage = try device()
    for (first, second) in [(UpdateProtocol.otaflash, UpdateProtocol.smp), (.smp, .otaflash)] {
      let interrupted = try Board.flash(
        new, onto: Self.module, on: storage, cancelAfter: .milliseconds(1500)
      ) {
        ($0.patches.bases, $0.updateProtocol) = (Self.bases(old), first)
        $0.allowsUnknown = true
      }
      #expect(throws: UpdateFault.self) { try interrupted.outcome.get() }
      storage = interrupted.storage
      let result = try Board.flash(new, onto: Self.module, on: storage) {
        ($0.patches.bases, $0.updateProtocol) = (Self.bases(old), second)
        $0.allowsUnknown = true
      }
      #expect(try result.outcome.get().isVerified && result.running == new.bytes, "\(second)")
      // Back to the first release for the next round.
      let back = try Board.flash(old, onto: Self.module, on: result.storage) {
        $0.patches.bases = BaseFinder.none
        $0.allowsDowngrade = true
      }
      #expect(try back.outcome.get().isVerified)
      storage = back.storage
    }
  }

  @Test func anInspectionReportsBothProtocols() throws {
    let old = try Self.release(0)
    let storage = try device()
    for (bases, used) in [(Self.bases(old), UpdateProtocol.otaflash), (.none, .smp)] {
      var options = UpdateOptions()
      options.patches.bases = bases
      let inspection = try Self.inspect(
        DeviceInspection(options: options, images: [try Self.release(1)]), storage)
      #expect(inspection.device?.updateProtocol == used)
      #expect(inspection.alternative?.updateProtocol == (used == .smp ? .otaflash : .smp))
      let smp = try #require(inspection.device?.smp ?? inspection.alternative?.smp)
      #expect(smp.slots.count == 2)
      guard case .success(.send) = inspection.prospects.first?.decision else {
        Issue.record("the image would not be sent: \(inspection.prospects)")
        continue
      }
    }
  }

  private static func inspect(
    _ inspection: DeviceInspection, _ storage: FlashMemory
  ) throws -> Inspection {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "smp?" + module), storage: storage,
      clock: timeline.clock)
    let outcome = try timeline.run(limit: .seconds(60)) { clock in
      await withTaskGroup(of: Void.self) { group -> Result<Inspection, UpdateFault> in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        do throws(UpdateFault) {
          return .success(try await inspection.run(on: dialer, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }
    return try outcome.get()
  }
}

extension SMPBoardTests.BoardResult {
  /// The protocols of the connections.
  fileprivate var protocols: [UpdateProtocol] {
    events.compactMap { event in
      if case .device(let device) = event { device.updateProtocol } else { nil }
    }
  }
}
