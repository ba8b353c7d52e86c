#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore

/// The campaign runs of a device, newest first.
package struct DeviceHistory: Sendable {
  private static let columns = ["RUN", "CAMPAIGN", "BEGAN", "OUTCOME", "FROM", "TO", "ATTEMPTS"]

  private struct Entry: Sendable {
    let run: KeptRun
    let device: DeviceReport
  }

  private let entries: [Entry]

  package init(of device: FleetDevice.ID, in session: Session) throws(CommandFault) {
    guard let store = try FleetFolder(of: session).look() else {
      entries = []
      return
    }
    do throws(StorageFault) {
      entries = try store.history(ofDevice: device).compactMap { run, events in
        DeviceReport(of: device, in: events).map { Entry(run: run, device: $0) }
      }
    } catch {
      throw .fleet(.store(error))
    }
  }

  package var isEmpty: Bool { entries.isEmpty }

  /// The properties of the device in the last campaign.
  package var facts: [[String]] {
    let device = entries.first?.device.device
    return [
      ("board", device?.board), ("site", device?.site),
      ("tags", device?.tags?.joined(separator: " ")),
    ].compactMap { name, value in value.map { [name, $0] } }
  }

  package func show(on console: Console) {
    guard !isEmpty else { return }
    var rows = [Self.columns]
    for entry in entries {
      let device = entry.device
      rows.append([
        entry.run.id, entry.run.campaign, entry.run.began.text, device.outcomeWords,
        device.from?.description ?? "", device.to?.description ?? "", "\(device.attempts.count)",
      ])
      console.event(
        "device_run",
        JSONValue.fields([
          "run": .string(entry.run.id), "campaign": .string(entry.run.campaign),
          "began": .string(entry.run.began.text),
        ]) + device.members)
    }
    for line in Text.table(rows) { console.result(line) }
  }
}
#endif
