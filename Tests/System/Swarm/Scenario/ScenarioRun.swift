import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// The result of a scenario: the reports of the update, and the state of the device.
public struct ScenarioEnding: Sendable {
  public let outcome: Result<UpdateResult, UpdateFault>
  public let events: [UpdateEvent]
  /// The bytes of each running image, and of each image that ran before; empty if only a bootloader
  /// can run.
  public let running: [[UInt8]]
  public let before: [[UInt8]]
  public let counters: BoardCounters
  public let flashFaults: [FlashFault]
  /// The elapsed virtual time.
  public let took: Duration
}

/// The reason why a scenario has no outcome.
public enum ScenarioFault: Error, Sendable {
  case profile(ProfileFault)
  case storage(FlashFault)
  /// The update did not end within its time limit.
  case hang(SimulationFault, [UpdateEvent])
}

extension Scenario {
  /// The time limit of an update, in addition to the time of the device's flash and of the air. It
  /// allows 9 attempts of half a minute in each of the two phases, and the waits between them.
  static let patience = Duration.seconds(3600)
  /// The maximum number of times that a page is written in one update.
  private static let writesOfPageMaximum = 12
  /// The number of bytes per data write at the smallest ATT_MTU, and the factor by which each write
  /// may take longer than two intervals, including all losses and reconnections.
  private static let smallestChunk = 16
  private static let slowness = 20

  /// Runs the scenario in virtual time. The result depends only on the scenario and the storage.
  ///
  /// - Parameter storage: the flash of a device that was used before; `nil` = a new device.
  public func run(storage: (any FlashMedium)? = nil) throws(ScenarioFault) -> ScenarioEnding {
    let settings = try settings()
    let timeline = VirtualTimeline()
    let log = EventLog()
    let board = try Self.stored { () throws(FlashFault) in
      try SimulatedBoard(profile: settings, storage: storage, clock: timeline.clock)
    }
    let before = try Self.stored { () throws(FlashFault) in try board.runningImages() }
    let outcome: Result<UpdateResult, UpdateFault>
    do throws(SimulationFault) {
      outcome = try timeline.run(limit: limit(settings)) { clock in
        await update(board, log, on: clock)
      }
    } catch {
      throw .hang(error, log.all)
    }
    let running = try Self.stored { () throws(FlashFault) in try board.runningImages() }
    return ScenarioEnding(
      outcome: outcome, events: log.all, running: running, before: before,
      counters: board.counters, flashFaults: board.flashFaults, took: timeline.clock.now.elapsed)
  }

  /// Creates a new device of the profile in `storage`, and returns its factory image.
  static func factory(
    _ profile: String, storage: any FlashMedium
  ) throws(ScenarioFault) -> [UInt8] {
    let settings = try Scenario(profile: profile, image: .drawn(size: 1)).settings()
    return try stored { () throws(FlashFault) in
      try SimulatedBoard(profile: settings, storage: storage, clock: VirtualTimeline().clock)
        .runningImage()
    }
  }

  /// Returns the parsed profile.
  func settings() throws(ScenarioFault) -> SimulationProfile {
    do throws(ProfileFault) { return try SimulationProfile(parsing: profile) } catch {
      throw .profile(error)
    }
  }

  private static func stored<Value>(
    _ body: () throws(FlashFault) -> Value
  ) throws(ScenarioFault) -> Value {
    do throws(FlashFault) { return try body() } catch { throw .storage(error) }
  }

  /// Returns the limit of virtual time for the scenario.
  private func limit(_ settings: SimulationProfile) -> Duration {
    let bytes = images.map(\.bytes.count).reduce(0, +)
    let pages = bytes / 4096 + 3 * images.count
    let roundTrips = bytes / Self.smallestChunk + 1
    let once =
      Self.patience + settings.radio.interval.duration * (2 * roundTrips * Self.slowness)
      + (settings.eraseTime + settings.writeTimePer4KiB) * (pages * Self.writesOfPageMaximum)
    return once * (1 + earlier.count)
  }

  private func update(
    _ board: SimulatedBoard, _ log: EventLog, on clock: VirtualClock
  ) async -> Result<UpdateResult, UpdateFault> {
    await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
      group.addTask {
        await board.run()
        return nil
      }
      if let powerCutAfter {
        group.addTask {
          if await clock.pause(for: powerCutAfter) { board.powerCut() }
          return nil
        }
      }
      group.addTask {
        for update in earlier {
          _ = await scenario(of: update).interrupted(board, EventLog(), on: clock)
        }
        return await interrupted(board, log, on: clock)
      }
      while let part = await group.next() {
        guard let outcome = part else { continue }
        group.cancelAll()
        return outcome
      }
      preconditionFailure("the update ended without a result")
    }
  }

  private func interrupted(
    _ board: SimulatedBoard, _ log: EventLog, on clock: VirtualClock
  ) async -> Result<UpdateResult, UpdateFault> {
    guard let cancelAfter else { return await flash(board, log, on: clock) }
    return await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
      group.addTask { await flash(board, log, on: clock) }
      group.addTask {
        await clock.pause(for: cancelAfter)
        return nil
      }
      for await part in group {
        group.cancelAll()
        if let part { return part }
      }
      preconditionFailure("the update ended without a result")
    }
  }

  private func flash(
    _ board: SimulatedBoard, _ log: EventLog, on clock: VirtualClock
  ) async -> Result<UpdateResult, UpdateFault> {
    var options = UpdateOptions()
    options.mode = mode
    options.mtu = mtu
    options.key = key
    options.allowsDowngrade = allowDowngrade
    options.patches.policy = delta
    options.patches.bases = sharedFinder ?? finder
    let update = FirmwareUpdate(package: package, options: options) { log.note($0) }
    let counter = LossCounter(losses)
    let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      let link = try await board.dial(at: place)
      return losses.isEmpty ? link : LossyLink(link, counter)
    })
    do throws(UpdateFault) {
      return .success(try await update.run(on: dialer, clock: clock))
    } catch {
      return .failure(error)
    }
  }
}

extension Scenario {
  /// Finds bases among the images that the host stores; `nil` if it stores no images.
  var finder: BaseFinder? {
    guard !bases.isEmpty else { return nil }
    return BaseFinder { [bases] wanted in
      bases.first { $0.count == wanted.size && CRC32.checksum($0) == wanted.crc32 }
    }
  }
}

/// The events of an update, in order.
private final class EventLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  var all: [UpdateEvent] { events.withLock { $0 } }
}
