import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Whole updates of the simulated Zephyr device, over its simulated radio and flash.
@Suite struct SMPBoardTests {
  private struct BoardResult: Sendable {
    let outcome: Result<UpdateResult, UpdateFault>
    let events: [UpdateEvent]
    let running: [UInt8]
    let flashFaults: [FlashFault]
    let elapsed: Duration
  }

  private static func flash(
    _ image: FirmwareImage, onto settings: String,
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> BoardResult {
    var options = UpdateOptions()
    adjust(&options)
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "smp?" + settings), clock: timeline.clock)
    let events = Mutex<[UpdateEvent]>([])
    let update = FirmwareUpdate(image: image, options: options) { event in
      events.withLock { $0.append(event) }
    }
    let outcome = try timeline.run(limit: .seconds(7_200)) {
      clock -> Result<UpdateResult, UpdateFault> in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          try await board.dial(at: place)
        })
        defer { group.cancelAll() }
        do throws(UpdateFault) {
          return .success(try await update.run(on: dialer, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }
    return BoardResult(
      outcome: outcome, events: events.withLock { $0 }, running: try board.runningImage(),
      flashFaults: board.flashFaults, elapsed: timeline.clock.now.elapsed)
  }

  private static func image(seed: UInt64 = 1) throws -> FirmwareImage {
    try bootable(MCUbootVersion(2, 0, 0), size: 40_000, seed: seed)
  }

  private func expectFlashed(
    _ result: BoardResult, _ image: FirmwareImage,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed, sourceLocation: sourceLocation)
    #expect(update.proof == .readBack, sourceLocation: sourceLocation)
    #expect(result.running == image.bytes, sourceLocation: sourceLocation)
    #expect(result.flashFaults == [], sourceLocation: sourceLocation)
  }

  @Test(
    "every boot loader mode ends with the image running",
    arguments: SMPServerSettings.BootMode.allCases)
  func modes(mode: SMPServerSettings.BootMode) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&mode=\(mode.rawValue)")
    try expectFlashed(result, image)
    let leaves = result.events.contains(.stageBegan(.detach))
    #expect(leaves == (mode == .single || mode == .firmwareLoader))
  }

  @Test(
    "every server that Zephyr can be built to be takes the image",
    arguments: [
      "&netbufs=4x384", "&netbufs=2x384", "&netbufs=2x2475", "&netbufs=16x1024", "&reassembly=no",
      "&reassembly=no&netbufs=4x384", "&mtu=247", "&mtu=247&netbufs=4x384",
      "&mtu=185&reassembly=no",
      "&params=no", "&bootinfo=no", "&params=no&bootinfo=no&check=no", "&progressive=yes",
      "&check=no", "&v1=yes", "&busy=7", "&mtu=23", "slot=16K&erase=20s&progressive=yes",
      "&drop=close", "&phy=1M&interval=50ms",
    ])
  func servers(settings: String) throws {
    let isSmall = settings.contains("slot=16K")
    let image =
      isSmall ? try bootable(MCUbootVersion(2, 0, 0), size: 9_000) : try Self.image()
    let slot = isSmall ? "" : "slot=64K"
    try expectFlashed(try Self.flash(image, onto: slot + settings), image)
  }

  @Test("a bad radio costs time and no octet", arguments: 1...10)
  func badRadio(seed: Int) throws {
    let image = try Self.image()
    try expectFlashed(try Self.flash(image, onto: "slot=64K&loss=10%&seed=\(seed)"), image)
  }

  @Test("a link that is cut is taken up where the server stands", arguments: [5, 30, 60, 90, 110])
  func cut(pdu: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&cut-at-pdu=\(pdu)&netbufs=4x384")
    try expectFlashed(result, image)
  }

  @Test("a device that restarts forgets the upload, and gets it again", arguments: [18, 20, 24])
  func restart(operation: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&reset-at-flash-op=\(operation)")
    try expectFlashed(result, image)
  }

  @Test("lost answers are made up for", arguments: [1, 2, 3])
  func lostNotifications(seed: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(
      image, onto: "slot=64K&notification-loss=5%&netbufs=4x384&seed=\(seed)")
    try expectFlashed(result, image)
  }

  @Test(
    "a device that lies is found out, in bounded time",
    arguments: [
      "repeat-offset", "beyond-end", "nonsense", "silent", "reverts",
      "comes-back-old", "never-returns", "bad-block",
    ])
  func liars(fault: String) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&\(fault)")
    guard case .failure = result.outcome else { throw Mismatch(result.outcome) }
    #expect(result.elapsed < .seconds(1_800), "\(result.outcome)")
  }

  @Test("a device that goes back once is followed")
  func jumpBack() throws {
    let image = try Self.image()
    try expectFlashed(try Self.flash(image, onto: "slot=64K&jump-back"), image)
  }

  @Test("a window of three is faster than one request at a time")
  func windowPays() throws {
    let image = try Self.image()
    let wide = try Self.flash(image, onto: "slot=64K&erase=0&write=0&netbufs=4x384").outcome.get()
    let narrow = try Self.flash(image, onto: "slot=64K&erase=0&write=0&netbufs=2x384").outcome.get()
    #expect(wide.uploadTook * 2 < narrow.uploadTook, "\(wide.uploadTook) \(narrow.uploadTook)")
  }
}
