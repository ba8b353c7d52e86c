import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashUpdate

/// The events and the PDUs of an update, in order.
final class SilabsLog: Sendable {
  private let events = Mutex<[UpdateEvent]>([])
  private let pdus = Mutex<[TracingLink.Crossing]>([])

  var all: [UpdateEvent] { events.withLock { $0 } }
  var crossings: [TracingLink.Crossing] { pdus.withLock { $0 } }
  func note(_ event: UpdateEvent) { events.withLock { $0.append(event) } }
  func note(_ crossing: TracingLink.Crossing) { pdus.withLock { $0.append(crossing) } }

  /// The reasons why the host restarted the device.
  var restarts: [String] {
    all.compactMap { if case .restarted(let reason, _, _) = $0 { reason } else { nil } }
  }

  var losses: Int { all.count { if case .linkLost = $0 { true } else { false } } }

  /// The values of the host's writes with this opcode, in order.
  func writes(_ opcode: UInt8) -> [[UInt8]] {
    crossings.filter { $0.direction == .sent && $0.pdu.first == opcode }.map {
      Array($0.pdu.dropFirst(3))
    }
  }
}

/// The results of updates of one simulated device, and its final state.
struct SilabsOutcome: Sendable {
  let results: [Result<UpdateResult, UpdateFault>]
  let log: SilabsLog
  let running: [UInt8]
  let counters: BoardCounters
  let elapsed: Duration

  /// Whether the running image of the device is this file.
  func runs(_ file: [UInt8]) -> Bool { running == file }

  var last: Result<UpdateResult, UpdateFault> { results[results.count - 1] }
  var refusal: ProtocolRefusal? {
    if case .failure(.declined(_, let refusal)) = last { refusal } else { nil }
  }
}

/// A change of the link between host and device.
typealias LinkChange = @Sendable (any Link, any LinkClock) -> any Link

/// Sends the files to one new device, each file in a separate update, in virtual time.
func update(
  _ files: [[UInt8]], onto profile: String, version: FirmwareVersion? = nil,
  cancelAfter: Duration? = nil, _ adjust: (inout UpdateOptions) -> Void = { _ in },
  through change: @escaping LinkChange = { link, _ in link }
) throws -> SilabsOutcome {
  var options = UpdateOptions()
  options.sendsAnyway = true
  adjust(&options)
  let images = try files.map {
    try FirmwareImage.decode(
      name: "app.gbl", bytes: $0, overrides: ImageIdentity(version: version))
  }
  let settings = options
  let timeline = VirtualTimeline()
  let log = SilabsLog()
  let board = try SimulatedBoard(
    profile: SimulationProfile(parsing: profile), clock: timeline.clock)
  let results = try timeline.run(limit: .seconds(7200)) { clock in
    await withTaskGroup(of: [Result<UpdateResult, UpdateFault>]?.self) { group in
      group.addTask {
        await board.run()
        return nil
      }
      group.addTask {
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          change(try await board.dial(at: place), clock)
        }).tracing(on: clock) { log.note($0) }
        var results: [Result<UpdateResult, UpdateFault>] = []
        for (index, image) in images.enumerated() {
          let update = FirmwareUpdate(image: image, options: settings) { log.note($0) }
          let limit = index == 0 ? cancelAfter : nil
          results.append(await outcome(of: update, on: dialer, clock, limit))
        }
        return results
      }
      var results: [Result<UpdateResult, UpdateFault>] = []
      while results.isEmpty, let finished = await group.next() { results = finished ?? [] }
      group.cancelAll()
      return results
    }
  }
  return SilabsOutcome(
    results: results, log: log, running: try board.runningImage(), counters: board.counters,
    elapsed: timeline.clock.now.elapsed)
}

/// - Parameter limit: the time at which the update is cancelled; the final fault is returned.
private func outcome(
  of update: FirmwareUpdate, on dialer: Dialer, _ clock: any LinkClock, _ limit: Duration?
) async -> Result<UpdateResult, UpdateFault> {
  await withTaskGroup(of: Result<UpdateResult, UpdateFault>?.self) { group in
    group.addTask {
      do throws(UpdateFault) {
        return .success(try await update.run(on: dialer, clock: clock))
      } catch {
        return .failure(error)
      }
    }
    if let limit {
      group.addTask {
        _ = await clock.pause(for: limit)
        return nil
      }
    }
    for await part in group {
      group.cancelAll()
      if let part { return part }
    }
    preconditionFailure("the update ended without a result")
  }
}

/// Bytes that depend on `seed`, with a descriptor of the version.
func program(
  _ size: Int, _ version: FirmwareVersion = FirmwareVersion(1, 3, 0), seed: UInt64 = 1
) -> [UInt8] {
  var random = SeededRandom(seed: seed)
  var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
  let descriptor = ImageDescriptor(version: version, hardware: nil).encoded
  bytes.replaceSubrange(64..<64 + descriptor.count, with: descriptor)
  return bytes
}

/// A file for the simulated devices.
func file(
  _ size: Int, _ version: FirmwareVersion = FirmwareVersion(1, 3, 0), seed: UInt64 = 1
) -> [UInt8] {
  SampleImage.gbl(program(size, version, seed: seed), version: version)
}
