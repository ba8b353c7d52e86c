import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of the simulated Zephyr device, over its simulated radio and flash.
@Suite struct SMPBoardTests {
  struct BoardResult: Sendable {
    let outcome: Result<UpdateResult, UpdateFault>
    let events: [UpdateEvent]
    let before: [[UInt8]]
    let runningImages: [[UInt8]]
    let counters: BoardCounters
    let flashFaults: [FlashFault]
    let elapsed: Duration
    let settings: String
    let storage: FlashMemory

    var running: [UInt8] { runningImages[0] }

    /// The images after a power cycle.
    func imagesAfterReset() throws -> [[UInt8]] {
      let timeline = VirtualTimeline()
      let board = try SimulatedBoard(
        profile: try SimulationProfile(parsing: settings), storage: storage, clock: timeline.clock)
      try timeline.run { clock in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await board.run() }
          await clock.pause(for: .seconds(60))
          group.cancelAll()
        }
      }
      return try board.runningImages()
    }
  }

  static func flash(
    _ image: FirmwareImage, onto settings: String, on storage: FlashMemory? = nil,
    cancelAfter limit: Duration? = nil, _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> BoardResult {
    try flash(
      FirmwarePackage(name: image.name, kind: .mcuboot, parts: [image]), onto: settings,
      on: storage, cancelAfter: limit, adjust)
  }

  static func flash(
    _ package: FirmwarePackage, onto settings: String, on storage: FlashMemory? = nil,
    cancelAfter limit: Duration? = nil, _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> BoardResult {
    var options = UpdateOptions()
    adjust(&options)
    let timeline = VirtualTimeline()
    let profile = try SimulationProfile(parsing: "smp?" + settings)
    let storage = storage ?? FlashMemory(size: profile.flashSize)
    let board = try SimulatedBoard(profile: profile, storage: storage, clock: timeline.clock)
    let before = try board.runningImages()
    let events = Mutex<[UpdateEvent]>([])
    let update = FirmwareUpdate(package: package, options: options) { event in
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
          return .success(
            try await withDeadline(
              clock.now.advanced(by: limit ?? .seconds(7_200)), on: clock,
              orThrow: UpdateFault.cancelled(resumable: true, acknowledged: 0)
            ) { () async throws(UpdateFault) -> UpdateResult in
              try await update.run(on: dialer, clock: clock)
            })
        } catch {
          return .failure(error)
        }
      }
    }
    return BoardResult(
      outcome: outcome, events: events.withLock { $0 }, before: before,
      runningImages: try board.runningImages(), counters: board.counters,
      flashFaults: board.flashFaults, elapsed: timeline.clock.now.elapsed,
      settings: "smp?" + settings, storage: storage)
  }

  static func image(seed: UInt64 = 1) throws -> FirmwareImage {
    try bootable(MCUbootVersion(2, 0, 0), size: 40_000, seed: seed)
  }

  /// The waits of this protocol are also measured, for slow flash and for flash that hardly takes
  /// time.
  @Test(arguments: [("write=400ms&phy=2M", true), ("erase=1ms&write=1ms&phy=2M", false)])
  func theWaitsAreMeasured(_ settings: String, _ isFlash: Bool) throws {
    let result = try Self.flash(try Self.image(), onto: settings + "&mtu=247&interval=15ms")
    let waits = try #require(try result.outcome.get().flow).waits
    #expect((waits.flash * 2 > waits.device) == isFlash, "\(waits)")
    #expect(waits.device > .zero)
  }

  func expectFlashed(
    _ result: BoardResult, _ image: FirmwareImage,
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed, sourceLocation: sourceLocation)
    #expect(update.proof == .readBack, sourceLocation: sourceLocation)
    #expect(result.running == image.bytes, sourceLocation: sourceLocation)
    #expect(result.flashFaults == [], sourceLocation: sourceLocation)
  }

  /// Each connection after the restart ends with HCI reason 0x06.
  @Test func keysLostInTheRestartAreReportedAtTheFirstConnection() throws {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: try SimulationProfile(parsing: "smp?slot=64K"), clock: timeline.clock)
    let image = try Self.image()
    let refusals = Mutex(0)
    let fault = try timeline.run(limit: .seconds(7_200)) { clock -> UpdateFault? in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        defer { group.cancelAll() }
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          let link = try await board.dial(at: place)
          guard board.counters.resets > 0 else { return link }
          link.close()
          refusals.withLock { $0 += 1 }
          throw .lostWhileConnecting(.keysRefused)
        })
        do throws(UpdateFault) {
          _ = try await FirmwareUpdate(image: image).run(on: dialer, clock: clock)
          return nil
        } catch {
          return error
        }
      }
    }
    guard case .bondForgotten(isActivated: true, resumable: false, _)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(refusals.withLock { $0 } == 1)
  }

  @Test(arguments: ["", "&drop=close", "&cut-at-pdu=60", "&reset-at-flash-op=3", "&mode=single"])
  func aDeviceThatDrawsANewAddressAtEachStartIsFound(_ more: String) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&address=random" + more)
    try expectFlashed(result, image)
    #expect(try result.imagesAfterReset()[0] == image.bytes, "it is confirmed")
  }

  @Test(
    "every bootloader mode ends with the image running",
    arguments: SMPServerSettings.BootMode.allCases)
  func modes(mode: SMPServerSettings.BootMode) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&mode=\(mode.rawValue)")
    try expectFlashed(result, image)
    let leaves = result.events.contains(.stageBegan(.detach))
    #expect(leaves == (mode == .single || mode == .firmwareLoader))
  }

  @Test(
    "every Zephyr configuration of the server accepts the image",
    arguments: [
      "&netbufs=4x384", "&netbufs=2x384", "&netbufs=2x2475", "&netbufs=16x1024", "&reassembly=no",
      "&reassembly=no&netbufs=4x384", "&mtu=247", "&mtu=247&netbufs=4x384",
      "&mtu=185&reassembly=no",
      "&params=no", "&bootinfo=no", "&params=no&bootinfo=no&check=no", "&progressive=yes",
      "&check=no", "&v1=yes", "&busy=7", "&mtu=23", "slot=16K&erase=20s&progressive=yes",
      "&drop=close", "&phy=1M&interval=50ms", "&unit=8", "&unit=32&mtu=100",
      "&unit=16&reassembly=no&mtu=247&netbufs=2x384", "&server=2021", "&server=2021&params=yes",
      "&server=2021&params=yes&unit=8&reassembly=no&mtu=247&netbufs=4x384",
      "&server=2021&unit=1&mtu=185&progressive=yes",
    ])
  func servers(settings: String) throws {
    let isSmall = settings.contains("slot=16K")
    let image =
      isSmall ? try bootable(MCUbootVersion(2, 0, 0), size: 9_000) : try Self.image()
    let slot = isSmall ? "" : "slot=64K"
    try expectFlashed(try Self.flash(image, onto: slot + settings), image)
  }

  @Test("a bad radio increases the time, but not the number of bytes", arguments: 1...10)
  func badRadio(seed: Int) throws {
    let image = try Self.image()
    try expectFlashed(try Self.flash(image, onto: "slot=64K&loss=10%&seed=\(seed)"), image)
  }

  @Test("after a cut, the upload resumes at the server's offset", arguments: [5, 30, 60, 90, 110])
  func cut(pdu: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&cut-at-pdu=\(pdu)&netbufs=4x384")
    try expectFlashed(result, image)
  }

  @Test("a restarted device receives the upload again", arguments: [3, 8, 12])
  func restart(operation: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&reset-at-flash-op=\(operation)")
    try expectFlashed(result, image)
  }

  @Test("lost responses are compensated", arguments: [1, 2, 3])
  func lostNotifications(seed: Int) throws {
    let image = try Self.image()
    let result = try Self.flash(
      image, onto: "slot=64K&notification-loss=5%&netbufs=4x384&seed=\(seed)")
    try expectFlashed(result, image)
  }

  @Test(
    "wrong answers of a device are detected in bounded time",
    arguments: [
      "repeat-offset", "beyond-end", "nonsense", "silent", "reverts",
      "comes-back-old", "never-returns", "bad-block", "other-image", "other-image&mode=overwrite",
    ])
  func liars(fault: String) throws {
    let image = try Self.image()
    let result = try Self.flash(image, onto: "slot=64K&\(fault)")
    guard case .failure = result.outcome else { throw Mismatch(result.outcome) }
    #expect(result.elapsed < .seconds(1_800), "\(result.outcome)")
  }

  @Test("a device that goes back once receives the bytes again")
  func jumpBack() throws {
    let image = try Self.image()
    try expectFlashed(try Self.flash(image, onto: "slot=64K&jump-back"), image)
  }

  @Test(
    "complete flash words cost no measurable time, and no byte is sent twice",
    arguments: ["&netbufs=4x2475", "&netbufs=4x512&reassembly=no"])
  func flashWords(settings: String) throws {
    let image = try bootable(MCUbootVersion(2, 0, 0), size: 200_001)
    let every = "slot=512K&mtu=498&erase=0&write=0" + settings
    let plain = try Self.flash(image, onto: every)
    let words = try Self.flash(image, onto: every + "&unit=8")
    try expectFlashed(words, image)
    let (took, plainTook) = try (
      words.outcome.get().uploadTook, plain.outcome.get().uploadTook
    )
    #expect(took * 100 <= plainTook * 105, "\(took) \(plainTook)")
    #expect(!words.events.contains { if case .rewound = $0 { true } else { false } })
    #expect(try words.outcome.get().resumes == 0)
  }

  private static func compressed() throws -> FirmwareImage {
    let bytes = SampleImage.compressed(
      (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 7) }, version: FirmwareVersion(2, 0, 0))
    return FirmwareImage(
      name: "lzma2.bin", format: .binary, bytes: bytes, version: FirmwareVersion(2, 0, 0),
      hardware: nil, content: .mcuboot(try MCUbootImage(decoding: bytes), place: MCUbootPlace()))
  }

  @Test("a bootloader with decompression starts compressed images permanently")
  func decompression() throws {
    let image = try Self.compressed()
    let settings = "slot=64K&decompress=yes&mode=overwrite"
    let result = try Self.flash(image, onto: settings)
    try expectFlashed(result, image)
    #expect(try result.imagesAfterReset() == [image.bytes])
    let again = try Self.flash(image, onto: settings, on: result.storage)
    #expect(try again.outcome.get().outcome == .alreadyCurrent)
    #expect(again.counters.flashOperations == 0)
  }

  @Test("a bootloader without decompression refuses them, like a real bootloader")
  func noDecompression() throws {
    let result = try Self.flash(try Self.compressed(), onto: "slot=64K&mode=overwrite")
    #expect(result.outcome == .failure(.reverted(running: FirmwareVersion(1, 2, 0))))
    #expect(result.running == result.before[0])
  }

  @Test(
    "a bootloader that swaps receives no compressed image", arguments: ["swap", "swap-scratch"])
  func noDecompressionInSwapMode(mode: String) throws {
    let result = try Self.flash(
      try Self.compressed(), onto: "slot=64K&decompress=yes&mode=\(mode)")
    guard case .failure(.declined(.prepare, let refusal)) = result.outcome else {
      throw Mismatch(result.outcome)
    }
    #expect(refusal.meaning.contains("is compressed"))
    #expect(result.counters.flashOperations == 0)
  }

  @Test("a window of three is faster than one request at a time")
  func windowPays() throws {
    let image = try Self.image()
    let settings = "slot=64K&erase=0&write=0&netbufs=4x2475"
    let wide = try Self.flash(image, onto: settings).outcome.get()
    let narrow = try Self.flash(image, onto: settings) { $0.windowLimit = 1 }.outcome.get()
    #expect(wide.uploadTook * 3 < narrow.uploadTook * 2, "\(wide.uploadTook) \(narrow.uploadTook)")
  }

  /// With fragments that fill packets, 256 KiB took 1.64 s and more.
  @Test("the fragments of a request fill connection events")
  func partsFillEvents() throws {
    let image = try bootable(MCUbootVersion(2, 0, 0), size: 256 * 1024)
    let settings = "slot=512K&mtu=498&erase=0&write=0&netbufs=4x2475"
    let result = try Self.flash(image, onto: settings)
    try expectFlashed(result, image)
    let took = try result.outcome.get().uploadTook
    #expect(took < .milliseconds(1600), "\(took)")
  }

  /// Writing a page takes 2 s. While the server writes, requests beyond four buffers are lost.
  @Test("a slow server receives as many requests as it has buffers")
  func slowServer() throws {
    let image = try Self.image()
    let settings = "slot=64K&write=2s&netbufs=4x384&reassembly=no&mtu=247"
    let result = try Self.flash(image, onto: settings)
    try expectFlashed(result, image)
    let rewinds = result.events.count { if case .rewound = $0 { true } else { false } }
    #expect(1...3 ~= rewinds, "\(rewinds) rewinds for full buffers")
  }

  /// The link ends while 11 pages are erased, which takes 2 s each. The next connection finds a
  /// server that does not respond for 20 s.
  @Test("the host waits for a server that still erases for an earlier connection")
  func busyServer() throws {
    let image = try Self.image()
    let settings = "slot=64K&erase=2s&write=0&cut-after=3s&mtu=100"
    let storage = FlashMemory(size: try SimulationProfile(parsing: "smp?slot=64K").flashSize)
    // Blank pages are not erased.
    storage.write([0, 0, 0, 0], at: 64 * 1024)
    let result = try Self.flash(image, onto: settings, on: storage)
    try expectFlashed(result, image)
    let connections = result.events.count { if case .connected = $0 { true } else { false } }
    #expect(connections == 3, "one lost, one that waited, one for the verification")
  }

  /// The image of an earlier host has a valid form but damaged content: the server lists it, but
  /// the bootloader does not start it.
  @Test(
    "a damaged image in a slot is sent again", arguments: ["swap", "direct-xip", "single"])
  func damagedImageHeld(mode: String) throws {
    let image = try Self.image()
    var damaged = image.bytes
    damaged[20_000] ^= 1
    let settings = "smp?slot=64K&mode=\(mode)&check=no"
    let storage = FlashMemory(size: try SimulationProfile(parsing: settings).flashSize)
    _ = try SimulatedBoard(
      profile: try SimulationProfile(parsing: settings), storage: storage,
      clock: VirtualTimeline().clock)
    let start = mode == "single" ? 0 : 64 * 1024
    storage.write(damaged + [UInt8](repeating: 0xFF, count: 65_536 - damaged.count), at: start)
    let result = try Self.flash(image, onto: "slot=64K&mode=\(mode)&check=no", on: storage)
    try expectFlashed(result, image)
  }
}
