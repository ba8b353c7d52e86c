import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

@Suite struct SimulatedFleetTests {
  static let new = FirmwareVersion(1, 3, 0)
  static let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<12_000).map(mixed),
    version: new, hardware: nil)

  // MARK: The text

  @Test func theTextDeterminesTheNthBoard() throws {
    let text =
      "sim-fleet:100?kinds=plain:6/smp:3/nordic-dfu:1&versions=1.2.0:3/1.1.0&seed=7&revert=5%"
    let (first, second) = (try FleetProfile(parsing: text), try FleetProfile(parsing: text))
    #expect((0..<100).allSatisfy { first.board($0) == second.board(99 - (99 - $0)) })
    let boards = (0..<100).map(first.board)
    let kinds = Dictionary(grouping: boards, by: \.kind).mapValues(\.count)
    #expect(kinds == ["plain": 60, "smp": 30, "nordic-dfu": 10])
    #expect(boards.count { $0.fate == .reverts } == 5)
    #expect(
      Set(boards.map(\.profile.version)) == [FirmwareVersion(1, 2, 0), FirmwareVersion(1, 1, 0)])
    #expect(Set(boards.map(\.id)).count == 100 && boards[0].id == "board-0001")
    #expect(Set(boards.map(\.profile.settings.address)).count == 100)
    let other = try FleetProfile(parsing: text.replacing("seed=7", with: "seed=8"))
    #expect((0..<100).contains { other.board($0).fate != first.board($0).fate })
  }

  @Test func aShareIsAtLeastOneBoard() throws {
    let fleet = try FleetProfile(parsing: "sim-fleet:24?away=2%&hang=1%&revert=10%&brick=1%")
    let fates = Dictionary(grouping: (0..<24).map { fleet.board($0).fate }, by: { $0 })
      .mapValues(\.count)
    #expect(fates == [.good: 19, .away: 1, .hangs: 1, .reverts: 2, .bricks: 1])
  }

  @Test func keysOfBoardsApplyToAllBoards() throws {
    let fleet = try FleetProfile(parsing: "sim-fleet:3?loss=1%&interval=30ms&slot=96K")
    let board = fleet.board(2).profile
    #expect(board.radio.packetErrorRate == 0.01 && board.slotSize == 96 * 1024)
    #expect(board.radio.interval == .milliseconds30)
  }

  @Test(arguments: [
    ("sim-fleet:", "the number of boards"), ("sim-fleet:0", "the number of boards"),
    ("sim-fleet:100001", "the number of boards"), ("sim-fleet:x", "the number of boards"),
    ("sim-fleet:3?kinds=plain:0", "kinds"), ("sim-fleet:3?kinds=", "kinds"),
    ("sim-fleet:3?kinds", "kinds"), ("sim-fleet:3?versions=1.2:3", "versions"),
    ("sim-fleet:3?adapters=0", "adapters"), ("sim-fleet:3?adapters=65", "adapters"),
    ("sim-fleet:3?away=2", "away"), ("sim-fleet:3?speed=0", "speed"),
    ("sim-fleet:3?away=60%&brick=60%", "away, hang, revert and brick"),
    ("sim-fleet:3?interval=1ms", "interval"),
  ])
  func aValueThatIsNotAllowedIsRefused(_ text: String, _ key: String) {
    #expect {
      try FleetProfile(parsing: text)
    } throws: { error in
      guard case .valueNotAllowed(key, _, _)? = error as? ProfileFault else { return false }
      return true
    }
  }

  @Test func unknownKeysAreRefused() {
    #expect(throws: ProfileFault.repeatedKey(key: "seed")) {
      try FleetProfile(parsing: "sim-fleet:3?seed=1&seed=2")
    }
    #expect {
      try FleetProfile(parsing: "sim-fleet:3?kinds=toaster")
    } throws: { error in
      guard case .unknownProfile("toaster", _)? = error as? ProfileFault else { return false }
      return true
    }
    #expect {
      try FleetProfile(parsing: "sim-fleet:3?adaptors=2")
    } throws: { error in
      guard case .unknownKey("adaptors", let allowed)? = error as? ProfileFault else {
        return false
      }
      return allowed.contains("adapters") && allowed.contains("loss")
    }
  }

  // MARK: The boards

  /// Runs `body` with a simulated fleet in virtual time.
  private func near<Value: Sendable>(
    _ text: String, storage: SimulatedFleet.Storage? = nil,
    _ body: @escaping @Sendable (SimulatedFleet, VirtualClock) async -> Value
  ) throws -> Value {
    let profile = try FleetProfile(parsing: text)
    return try VirtualTimeline().run { clock in
      let fleet = SimulatedFleet(profile, clock: clock, storage: storage)
      return await withService {
        await fleet.run()
      } _: {
        await body(fleet, clock)
      }
    }
  }

  private static func update(
    _ id: String, of fleet: SimulatedFleet, on adapter: String = "hci0", _ clock: VirtualClock
  ) async -> Result<UpdateResult, UpdateFault> {
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      try await fleet.connect(to: id, at: place, on: adapter)
    })
    var options = UpdateOptions()
    options.allowsUnknown = true
    do throws(UpdateFault) {
      let update = FirmwareUpdate(image: image, options: options)
      return .success(try await update.run(on: dialer, clock: clock))
    } catch {
      return .failure(error)
    }
  }

  @Test func aReleasedBoardRunsItsNewImage() throws {
    let (truth, again, most) = try near("sim-fleet:3?slot=96K") { fleet, clock in
      for device in fleet.devices {
        _ = await Self.update(device.id, of: fleet, clock)
        fleet.release(device.id)
        await clock.pause(for: .seconds(1))
      }
      let truth = fleet.truth
      return (truth, await Self.update("board-0002", of: fleet, clock), fleet.poweredMost)
    }
    #expect(truth.count == 3 && truth.values.allSatisfy { $0.version == Self.new })
    #expect(truth.values.allSatisfy { $0.bytes == Self.image.bytes.count })
    #expect(try again.get().outcome == .alreadyCurrent)
    #expect(most == 1)
  }

  @Test func fatesMatchTheirNames() throws {
    for (key, isGone) in [("revert", false), ("brick", true), ("hang", false)] {
      let (result, truth) = try near("sim-fleet:1?slot=96K&\(key)=100%") { fleet, clock in
        let result = await Self.update("board-0001", of: fleet, clock)
        fleet.release("board-0001")
        await clock.pause(for: .seconds(1))
        return (result, fleet.truth["board-0001"])
      }
      #expect(throws: UpdateFault.self, "\(key)") { try result.get() }
      #expect(truth?.isGone == isGone)
      if !isGone { #expect(truth?.version == FirmwareVersion(1, 2, 0)) }
    }
    let (inRange, fault) = try near("sim-fleet:1?away=100%") { fleet, clock in
      let inRange = fleet.hearing(of: "board-0001")
      guard case .failure(let fault) = await Self.update("board-0001", of: fleet, clock) else {
        return (inRange, UpdateFault?.none)
      }
      return (inRange, fault)
    }
    #expect(inRange.isEmpty)
    guard case .couldNotConnect(.deviceNotFound)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
  }

  @Test func aSecondProcessFindsTheStateOfTheFirst() throws {
    let flash = FlashMemory(
      size: try FleetProfile(parsing: "sim-fleet:1?slot=96K").board(0).profile.flashSize)
    let storage: SimulatedFleet.Storage = { (id, bytes) throws(FlashFault) in
      #expect(id == "board-0001" && bytes == flash.size)
      return flash
    }
    let first = try near("sim-fleet:1?slot=96K", storage: storage) { fleet, clock in
      await Self.update("board-0001", of: fleet, clock)
    }
    #expect(try first.get().outcome == .flashed)
    let second = try near("sim-fleet:1?slot=96K", storage: storage) { fleet, clock in
      await Self.update("board-0001", of: fleet, clock)
    }
    #expect(try second.get().outcome == .alreadyCurrent)
  }

  @Test func adaptersAreSortedFromNearToFar() throws {
    let profile = try FleetProfile(parsing: "sim-fleet:200?adapters=6&hears=3")
    for number in 0..<200 {
      let inRange = profile.hearing(of: number)
      #expect(inRange.count == 3 && Set(inRange.map(\.adapter)).count == 3)
      #expect(inRange.map(\.rssi) == inRange.map(\.rssi).sorted(by: >))
      #expect(inRange.allSatisfy { (-127 ... -40).contains($0.rssi) })
    }
    let nearest = Dictionary(
      grouping: (0..<200).compactMap { profile.hearing(of: $0).first?.adapter }
    ) { $0 }
    #expect(nearest.count == 6 && nearest.values.allSatisfy { $0.count > 15 })
  }

  @Test func anUnpluggedAdapterEndsItsLinksAndReturns() throws {
    let (losses, adapters, again) = try near("sim-fleet:2?slot=96K&adapters=2") { fleet, clock in
      let first = await Self.link("board-0001", fleet, "hci0")
      let second = await Self.link("board-0002", fleet, "hci1")
      fleet.setAdapterPresent("hci0", false)
      let adapters = fleet.adapters
      let losses = (await Self.loss(of: first), await Self.isAlive(second))
      fleet.setAdapterPresent("hci0", true)
      await clock.pause(for: .seconds(1))
      return (losses, adapters, await Self.link("board-0001", fleet, "hci0") != nil)
    }
    guard case .failed(errno: 19, _)? = losses.0 else {
      Issue.record("\(String(describing: losses.0))")
      return
    }
    #expect(losses.1 && adapters == ["hci1"] && again)
  }

  private static func link(
    _ id: String, _ fleet: SimulatedFleet, _ adapter: String
  ) async -> (any Link)? {
    do throws(ConnectFault) { return try await fleet.connect(to: id, at: .home, on: adapter) } catch
    { return nil }
  }

  private static func loss(of link: (any Link)?) async -> LinkLoss? {
    do throws(LinkLoss) { _ = try await link?.receive() } catch { return error }
    return nil
  }

  /// Returns whether Exchange MTU is answered.
  private static func isAlive(_ link: (any Link)?) async -> Bool {
    do throws(LinkLoss) {
      try await link?.send([0x02, 0x05, 0x02])
      return try await link?.receive().first == 0x03
    } catch {
      return false
    }
  }

  /// Eight boards on one adapter share its air time, but eight boards on eight adapters do not.
  @Test func boardsOfOneAdapterShareItsAir() throws {
    func time(_ adapters: [Int]) throws -> Duration {
      try near("sim-fleet:8?kinds=fast&slot=96K&adapters=8&ring=60K") { fleet, clock in
        await withTaskGroup(of: Bool.self) { group in
          for (device, adapter) in zip(fleet.devices, adapters) {
            group.addTask { await Self.stream(device.id, fleet, "hci\(adapter)", clock) }
          }
          for await isDone in group { #expect(isDone) }
        }
        return clock.now.elapsed
      }
    }
    let own = try time(Array(0..<8))
    let shared = try time(Array(repeating: 0, count: 8))
    // The difference: 8 × 90,000 bytes at 164 kB/s, of which one eighth is included in both times.
    #expect(shared > own + .seconds(3) && shared < own + .seconds(7), "\(shared) \(own)")
  }

  private static func stream(
    _ id: String, _ fleet: SimulatedFleet, _ adapter: String, _ clock: VirtualClock
  ) async -> Bool {
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      try await fleet.connect(to: id, at: place, on: adapter)
    })
    var options = UpdateOptions()
    options.mode = .withoutResponse
    options.allowsUnknown = true
    let large = FirmwareImage(
      name: "app", format: .binary, bytes: (0..<90_000).map(mixed),
      version: new, hardware: nil)
    do throws(UpdateFault) {
      let update = FirmwareUpdate(image: large, options: options)
      return try await update.run(on: dialer, clock: clock).outcome == .flashed
    } catch {
      return false
    }
  }

  // MARK: The clock

  @Test func anAcceleratedClockHasTheConfiguredSpeed() throws {
    let (woke, wall, passed) = try VirtualTimeline().run { base in
      await base.pause(for: .seconds(5))
      let fast = AcceleratedClock(base, speed: 30)
      let began = fast.now
      await fast.pause(for: .seconds(60))
      let woke = began.duration(to: fast.now)
      await base.pause(until: LinkInstant(elapsed: .seconds(10)))
      return (woke, base.now.elapsed, began.duration(to: fast.now))
    }
    #expect(woke >= .seconds(60) && woke < .seconds(60) + .microseconds(1))
    #expect(wall == .seconds(10) && passed == .seconds(150))
  }
}

/// Returns a byte of an image that cannot be compressed, so that devices receive the uncompressed
/// image.
private func mixed(_ index: Int) -> UInt8 {
  var value = UInt32(truncatingIfNeeded: index) &* 0x9E37_79B1
  value ^= value >> 15
  value = value &* 0x85EB_CA77
  return UInt8(truncatingIfNeeded: (value ^ value >> 13) >> 8)
}
