import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// Tests of an update as an app performs it, with an observer, the queue, and advice after a fault.
@Suite struct OverviewTests {
  @Test func theOverviewsUpdateRuns() throws {
    let log = Log()
    let image = image(size: 20_000, version: FirmwareVersion(1, 1, 0))
    let result = try onBoard { dialer, clock in
      await Self.outcome { () async throws(UpdateFault) -> UpdateResult in
        try await Self.flash(image, over: dialer, on: clock, log)
      }
    }
    #expect(try result.get().isVerified)
    #expect(log.all.last == "100 %")
  }

  @Test func theOverviewsUpdateRunsInAQueue() throws {
    let update = FirmwareUpdate(image: image(size: 20_000))
    let result = try onBoard { dialer, clock in
      await Self.outcome { () async throws(QueueFault<UpdateFault>) -> UpdateResult in
        try await withPeripheral(dialer, clock: clock) {
          (peripheral) async throws(QueueFault<UpdateFault>) -> UpdateResult in
          try await peripheral.perform(update.command)
        }
      }
    }
    #expect(try result.get().outcome == .flashed)
  }

  @Test func theOverviewsAdviceFollowsTheFault() {
    let lost = UpdateFault.linkLost(
      .supervisionTimeout, .upload, resumable: true, acknowledged: 4096)
    #expect(
      Self.advice(after: lost)
        == "lost during upload; the device keeps 4096 bytes: run it again")
    let older = UpdateFault.downgrade(
      running: FirmwareVersion(1, 2, 0), image: FirmwareVersion(1, 1, 0))
    #expect(Self.advice(after: older) == "the device runs 1.2.0, which is newer than 1.1.0")
    #expect(Self.advice(after: .wrongKey).hasPrefix("The device rejected the key. "))
  }

  // MARK: The overview's code

  private static func flash(
    _ image: FirmwareImage, over dialer: Dialer, on clock: any LinkClock, _ log: Log
  ) async throws(UpdateFault) -> UpdateResult {
    var options = UpdateOptions()
    options.mode = .withResponse
    options.reconnection = .exponential(attempts: 5)
    options.allowsDowngrade = true
    let update = FirmwareUpdate(image: image, options: options) { event in
      if case .progress(let acknowledged, let total) = event {
        log.note("\(100 * acknowledged / total) %")
      }
    }
    return try await update.run(on: dialer, clock: clock)
  }

  private static func advice(after fault: UpdateFault) -> String {
    switch fault {
    case .linkLost(_, let stage, resumable: true, let acknowledged):
      "lost during \(stage.rawValue); the device keeps \(acknowledged) bytes: run it again"
    case .downgrade(let running, let image):
      "the device runs \(running), which is newer than \(image)"
    default:
      "\(fault)"
    }
  }

  // MARK: Helpers

  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  /// Runs `body` with a dialer to a simulated board of the plain profile, in virtual time.
  private func onBoard<Value: Sendable>(
    _ body: @escaping @Sendable (Dialer, VirtualClock) async -> Value
  ) throws -> Value {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: "plain"), clock: timeline.clock)
    return try timeline.run { clock in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = await board.run() }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        let value = await body(dialer, clock)
        group.cancelAll()
        return value
      }
    }
  }

  private static func outcome<Failure: Error>(
    _ body: () async throws(Failure) -> UpdateResult
  ) async -> Result<UpdateResult, Failure> {
    do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
  }
}
