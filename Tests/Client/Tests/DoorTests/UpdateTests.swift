import Door
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Tests of an app's update flow, with simulated boards in virtual time.
@Suite struct UpdateTests {
  private static let next = FirmwareVersion(1, 3, 0)
  private static let image = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { _ in .random(in: 0...255) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  /// The same bytes in each run.
  private static let fixed = FirmwareImage(
    name: "app", format: .binary, bytes: (0..<40_000).map { UInt8(truncatingIfNeeded: $0) },
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  @Test func anUpdateOverABadLinkIsVerified() throws {
    let result = try simulate("sim:?loss=2%") { board, clock in
      try await FirmwareUpdate(image: Self.image).run(on: board.dialer, clock: clock)
    }
    #expect(result.isVerified)
  }

  @Test func aRunIsRepeatable() throws {
    let times = try (1...2).map { _ in
      try simulate("sim:?loss=5%&seed=7") { board, clock in
        _ = try await FirmwareUpdate(image: Self.fixed).run(on: board.dialer, clock: clock)
        return clock.now
      }
    }
    #expect(times[0] == times[1])
  }

  @Test func anEndlessWaitIsAnErrorInsteadOfAHang() {
    #expect(throws: SimulationFault.timeLimitExceeded(limit: .seconds(60))) {
      try simulate("sim:", limit: .seconds(60)) { board, clock in
        // The event never happens.
        let agreed = OneTime()
        while !agreed.hasHappened, await clock.pause(for: .seconds(1)) {}
      }
    }
  }

  @Test func theAppShowsProgress() throws {
    let shown = Mutex<[Int]>([])
    let result = try simulate { board, clock in
      try await DoorModel(board.dialer, clock: clock).update(to: Self.image) { percent in
        shown.withLock { $0.append(percent) }
      }
    }
    #expect(result.isVerified)
    let percents = shown.withLock { $0 }
    #expect(percents == percents.sorted())
    #expect(percents.last == 100)
  }

  @Test func aLostLinkIsRetriedByTheApp() throws {
    var options = UpdateOptions()
    options.mode = .withoutResponse
    options.reconnection = .none
    let result = try simulate("sim:?cut-at-pdu=60") { [options] board, clock in
      let model = DoorModel(board.dialer, clock: clock)
      do throws(QueueFault<UpdateFault>) {
        _ = try await model.update(to: Self.image, options: options, attempts: 0)
        Issue.record("the link was not lost")
      } catch .failed(.linkLost(_, let stage, resumable: true, let acknowledged)) {
        #expect(stage == .upload && acknowledged > 0)
      }
      return try await model.update(to: Self.image, options: options)
    }
    #expect(result.isVerified && result.resumes == 1)
    let alone = try simulate("sim:?cut-at-pdu=60") { [options] board, clock in
      try await DoorModel(board.dialer, clock: clock).update(to: Self.image, options: options)
    }
    #expect(alone.isVerified && alone.resumes == 1)
  }

  @Test func aRefusalIsNotRetried() throws {
    let old = FirmwareImage(
      name: "old", format: .binary, bytes: [1, 2, 3, 4], version: FirmwareVersion(1, 0, 0),
      hardware: .any)
    try simulate { board, clock in
      let model = DoorModel(board.dialer, clock: clock)
      do throws(QueueFault<UpdateFault>) {
        _ = try await model.update(to: old)
        Issue.record("an older version was accepted")
      } catch .failed(.downgrade(let running, let image)) {
        #expect(running > image)
      }
      #expect(board.counters.dataBytes == 0)
    }
  }

  @Test func aBoardIsInspectedBeforeItIsUpdated() throws {
    let inspection = try simulate { board, clock in
      try await DeviceInspection(images: [Self.image]).run(on: board.dialer, clock: clock)
    }
    #expect(inspection.device?.runningVersion == FirmwareVersion(1, 2, 0))
    guard case .send(let plan) = try inspection.prospects.first?.decision.get() else {
      Issue.record("the image would not be sent")
      return
    }
    #expect(plan.version == Self.next)
  }

  @Test func aSignedPackageGoesToADeviceWithMCUboot() throws {
    let file = SampleImage.mcuboot([UInt8](repeating: 7, count: 30_000), version: Self.next)
    let package = try FirmwarePackage.decode(name: "app.signed.bin", bytes: file)
    let result = try simulate("sim:smp?loss=1%") { board, clock in
      let result = try await FirmwareUpdate(package: package).run(on: board.dialer, clock: clock)
      #expect(try board.runningImage().starts(with: file))
      return result
    }
    #expect(result.proof == .readBack)
  }

  @Test func noOtherCommandInterruptsAnUpdate() throws {
    let order = try simulate { board, clock in
      let order = Mutex<[String]>([])
      let begun = OneTime()
      let note: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
      try await withPeripheral(board.dialer, clock: clock) { door in
        let update = FirmwareUpdate(image: Self.image) { event in
          guard case .progress = event, !begun.hasHappened else { return }
          // During the update, another caller uses the device.
          begun.happen()
          door.enqueue(Command<PeripheralTurn, Void, Never>("other") { _ in note("other") })
        }
        _ = try await door.perform(
          update.command.followed(by: Command("note") { _ in note("update") }))
        try await door.perform("behind it") { _ in }
      }
      return order.withLock { $0 }
    }
    #expect(order == ["update", "other"])
  }

  @Test func anUpdateHasATimeLimitAndReportsItsProgress() throws {
    try simulate { board, clock in
      let door = Peripheral(board.dialer, clock: clock)
      let update = FirmwareUpdate(image: Self.image)
      let kept = await Self.bytesKept(of: update, by: door, within: .seconds(1))
      #expect(kept ?? 0 > 0)
      // The same command resumes the interrupted update.
      let result = try await door.perform(update.command.timeLimit(.seconds(90)))
      #expect(result.isVerified && result.resumes == 1)
      await door.close()
    }
  }

  /// The bytes of an image that the device holds when the limit ends its update; `nil` if there was
  /// no failure.
  private static func bytesKept(
    of update: FirmwareUpdate, by door: Peripheral, within limit: Duration
  ) async -> Int? {
    do throws(QueueFault<UpdateFault>) {
      _ = try await door.perform(update.command.timeLimit(limit))
      return nil
    } catch .failed(.timedOut(_, resumable: true, let acknowledged)) {
      return acknowledged
    } catch {
      return nil
    }
  }

  @Test func theThroughputOfTheLinkIsMeasured() throws {
    var setting = LinkBenchmark.Setting()
    setting.mtu = 247
    setting.size = 20_000
    let measured = try simulate("sim:?ring=60K") { [setting] board, clock in
      try await LinkBenchmark(setting: setting).run(on: board.dialer, clock: clock)
    }
    #expect(measured.map(\.bytes) == [20_000])
    #expect(measured[0].bytesPerSecond > 1000)
  }

  @Test func aFleetIsUpdatedAtTheSameTime() throws {
    let profiles = try (1...3).map { try SimulationProfile(parsing: "sim:?loss=1%&seed=\($0)") }
    let results = try simulate(boards: profiles) { boards, clock in
      try await withThrowingTaskGroup(of: UpdateResult.self) { group in
        for board in boards {
          group.addTask {
            try await FirmwareUpdate(image: Self.image).run(on: board.dialer, clock: clock)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(results.map(\.isVerified) == [true, true, true])
  }

  @Test func aCancelledUpdateIsResumed() throws {
    let result = try simulate { board, clock in
      let model = DoorModel(board.dialer, clock: clock)
      let half = OneTime()
      let first = await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          do {
            _ = try await model.update(to: Self.image) { if $0 >= 50 { half.happen() } }
            return true
          } catch { return false }
        }
        while !half.hasHappened { _ = await clock.pause(for: .milliseconds(10)) }
        group.cancelAll()
        return await group.next() ?? true
      }
      #expect(!first)
      return try await model.update(to: Self.image) { _ in }
    }
    #expect(result.resumes == 1)
    #expect(result.bytesSent < 30_000)
  }
}

private final class OneTime: Sendable {
  private let flag = Mutex(false)
  var hasHappened: Bool { flag.withLock { $0 } }
  func happen() { flag.withLock { $0 = true } }
}
