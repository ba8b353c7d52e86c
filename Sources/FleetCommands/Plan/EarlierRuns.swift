#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore
import OtaflashSimulation

/// The properties of a campaign's devices in stored runs, from which a forecast creates its
/// simulated fleet.
struct EarlierRuns {
  /// The number of runs to consider; older runs are not representative.
  private static let runsMaximum = 5

  /// The number of runs with at least one of the devices.
  private(set) var runs = 0
  private(set) var adapters: Set<String> = []
  private var settled = 0
  private var absent = 0
  private var reverted = 0

  /// - Parameter devices: the ids of the devices.
  init(of devices: Set<FleetDevice.ID>, in store: FleetStore) async throws(CommandFault) {
    let kept: [KeptRun]
    do throws(StorageFault) { kept = try store.runs() } catch { throw .fleet(.store(error)) }
    for run in kept.prefix(Self.runsMaximum) {
      let past = FleetRun(try await store.history(of: run.id)).devices.filter {
        devices.contains($0.device.id) && $0.ending != nil
      }
      if !past.isEmpty { runs += 1 }
      for device in past { note(device) }
    }
  }

  private mutating func note(_ device: DeviceProgress) {
    adapters.formUnion(device.records.compactMap(\.adapter))
    settled += 1
    switch device.ending {
    case .absent: absent += 1
    case .failed(let failure), .quarantined(let failure):
      if failure.code == AttemptFailure.revertedCode { reverted += 1 }
    case .updated, .current, .skipped, nil: break
    }
  }

  /// Returns a value for `--fleet`; `nil` without records of the devices.
  func fleet(of count: Int) -> String? {
    guard settled > 0 else { return nil }
    var settings = [
      "adapters=\(min(max(adapters.count, 1), FleetProfile.adapters.upperBound))"
    ]
    for (key, devices) in [("away", absent), ("revert", reverted)] where devices > 0 {
      settings.append("\(key)=\(Text.fixed(Double(devices) / Double(settled) * 100))%")
    }
    return "\(FleetProfile.prefix)\(count)?" + settings.joined(separator: "&")
  }
}
#endif
