#if Fleet
import OtaflashDevices
import OtaflashFleet
import OtaflashGATT
import OtaflashState
import Synchronization

/// Writes the results of a run to the registry of devices in batches. The events of the run are
/// authoritative: the process that continues the run writes missing entries again.
final class CampaignDevices: Sendable {
  /// The interval of writes. Each write replaces a file that may hold thousands of devices.
  private static let interval = Duration.seconds(10)

  private let records: StateStore
  private let changed = Mutex<[FleetDevice.ID: DeviceProgress]>([:])
  private let end = OneShot<Void>()

  init(_ records: StateStore) { self.records = records }

  /// - Parameter events: empty at the start of a process. In this case, all devices of the run are
  ///   written, because the previous process may have written only some of them.
  func observe(_ events: [FleetEvent], _ run: FleetRun) {
    let ids: [FleetDevice.ID] =
      events.isEmpty ? run.devices.map(\.device.id) : events.compactMap(\.endedDevice)
    guard !ids.isEmpty else { return }
    changed.withLock { changed in
      for id in ids { changed[id] = run[id] }
    }
  }

  /// Writes until `finish`.
  func work(_ clock: any LinkClock) async {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { [end] in
        _ = await end.wait()
        return false
      }
      group.addTask {
        while await clock.pause(for: Self.interval) { self.write() }
        return false
      }
      _ = await group.next()
      group.cancelAll()
    }
    write()
  }

  func finish() { end.fulfil(()) }

  private func write() {
    let devices = changed.withLock { changed in
      defer { changed = [:] }
      return changed.values.compactMap { DeviceRecord($0) }
    }
    if !devices.isEmpty { records.noteCampaign(devices) }
  }
}

extension FleetEvent {
  /// The device about which the event adds information.
  fileprivate var endedDevice: FleetDevice.ID? {
    switch self {
    case .attemptEnded(let id, _, _), .deviceSettled(let id, _): id
    default: nil
    }
  }
}

extension DeviceRecord {
  /// Returns the record of a device that an attempt has reached; `nil` without such an attempt.
  /// Boards of simulated fleets are omitted, because commands cannot address them.
  init?(_ progress: DeviceProgress) {
    let device = progress.device
    guard Self.isCommandWord(device.id) else { return nil }
    var record: DeviceRecord?
    for attempt in progress.records {
      guard let moment = attempt.ended, let ending = attempt.ending else { continue }
      let at = Double(moment.milliseconds) / 1000
      guard let flashing = Flashing(ending, at: at) else { continue }
      var reached = record ?? DeviceRecord(id: device.id, lastSeen: at)
      reached.lastSeen = at
      reached.lastConnected = at
      reached.lastFlashing = flashing
      reached.running = reached.lastVersion
      record = reached
    }
    guard var record else { return nil }
    // The device was updated by an attempt that was interrupted after the activation.
    if progress.ending == .updated, record.lastFlashing?.outcome == .alreadyCurrent {
      record.lastFlashing?.outcome = .flashed
    }
    record.name = device.name
    record.board = device.board
    record.site = device.site
    record.tags = device.tags
    self = record
  }

  private static func isCommandWord(_ id: FleetDevice.ID) -> Bool {
    do {
      switch try DeviceSelector.parse(id).kind {
      case .address, .unix, .simulated: return true
      case .name, .last, .alias: return false
      }
    } catch {
      return false
    }
  }
}

extension DeviceRecord.Flashing {
  /// Creates the record of an attempt; returns `nil` if the attempt did not reach the device.
  fileprivate init?(_ ending: AttemptEnding, at seconds: Double) {
    switch ending {
    case .updated(let figures):
      self.init(outcome: .flashed, version: figures.to, at: seconds)
    case .current(let running):
      self.init(outcome: .alreadyCurrent, version: running, at: seconds)
    case .failed(let failure) where failure.wasSeen && failure.kind == .device:
      self.init(outcome: .failed, version: nil, at: seconds)
    case .failed(let failure) where failure.wasSeen && failure.kind == .link:
      self.init(outcome: .interrupted, version: nil, at: seconds)
    case .failed, .skipped, .returned: return nil
    }
  }
}
#endif
