import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// The events of an update, in order.
final class EventLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  var all: [UpdateEvent] { events.withLock { $0 } }

  /// The largest acknowledged offset.
  var acknowledged: Int {
    all.reduce(0) { most, event in
      if case .progress(let offset, _) = event { return max(most, offset) }
      return most
    }
  }
}

/// The result of an update on a simulated board, and the final state of the board.
struct BenchResult: Sendable {
  let outcome: Result<UpdateResult, UpdateFault>
  let events: [UpdateEvent]
  let running: SlotImage
  let runningImage: [UInt8]
  let counters: BoardCounters
  let flashFaults: [FlashFault]
  let elapsed: Duration
}

/// An image for the simulated board, with content that depends on `seed`.
func image(
  size: Int, version: FirmwareVersion = FirmwareVersion(1, 3, 0),
  hardware: HardwareID = HardwareID(0xA001), seed: UInt64 = 1
) -> FirmwareImage {
  var state = seed
  let bytes = (0..<size).map { _ -> UInt8 in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
  return FirmwareImage(
    name: "test.bin", format: .binary, bytes: bytes, version: version, hardware: hardware)
}

/// Flashes `image` onto a board in virtual time. If `cancelAfter` is not `nil`, the update is
/// cancelled after this time. The board has the flash `storage`; without `storage`, it is a new
/// board.
func flash(
  _ image: FirmwareImage, onto profile: String, limit: Duration = .seconds(7_200),
  storage: (any FlashMedium)? = nil, _ adjust: (inout UpdateOptions) -> Void = { _ in },
  cancelAfter: Duration? = nil
) throws -> BenchResult {
  var options = UpdateOptions()
  adjust(&options)
  let profile = try SimulationProfile(parsing: profile)
  let settings = options
  let timeline = VirtualTimeline()
  let log = EventLog()
  let board = try SimulatedBoard(profile: profile, storage: storage, clock: timeline.clock)
  let outcome = try timeline.run(limit: limit) { clock -> Result<UpdateResult, UpdateFault> in
    await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
      group.addTask {
        await board.run()
        return nil
      }
      group.addTask {
        let update = FirmwareUpdate(image: image, options: settings) { log.note($0) }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        do throws(UpdateFault) {
          guard let cancelAfter else {
            return .success(try await update.run(on: dialer, clock: clock))
          }
          return .success(
            try await withDeadline(
              clock.now.advanced(by: cancelAfter), on: clock,
              orThrow: UpdateFault.cancelled(resumable: true, acknowledged: log.acknowledged)
            ) { () async throws(UpdateFault) -> UpdateResult in
              try await update.run(on: dialer, clock: clock)
            })
        } catch {
          return .failure(error)
        }
      }
      var result: Result<UpdateResult, UpdateFault>?
      while result == nil, let finished = await group.next() { result = finished }
      group.cancelAll()
      return result ?? .failure(.noUpdateService)
    }
  }
  return BenchResult(
    outcome: outcome, events: log.all, running: board.running,
    runningImage: try board.runningImage(), counters: board.counters,
    flashFaults: board.flashFaults, elapsed: timeline.clock.now.elapsed)
}
