#if Sites
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport
import Synchronization

/// A device of one or more runs.
package struct KnownDevice: Hashable, Sendable {
  /// The result of the device in one run.
  package struct Entry: Hashable, Sendable {
    package let run: String
    package let campaign: String
    package let began: WallClockTime
    package let report: Outline
  }

  /// The result of a device in a run, without the list of its attempts.
  package struct Outline: Hashable, Sendable {
    package let outcome: Outcome
    package let words: String
    package let from: FirmwareVersion?
    package let to: FirmwareVersion?
    package let attempts: Int
    package let settled: WallClockTime?
    package let cause: String?

    init(_ report: DeviceReport) {
      outcome = report.outcome
      words = report.outcomeWords
      from = report.from
      to = report.to
      attempts = report.attempts.count
      settled = report.settled
      cause = report.cause?.title
    }
  }

  package let id: FleetDevice.ID
  package internal(set) var name: String?
  package internal(set) var board: String?
  package internal(set) var site: String?
  /// The runs of the device, the newest first.
  package internal(set) var entries: [Entry] = []

  package var label: String { name ?? id }

  /// The version that the device reported last; `nil` if no version is known.
  package var version: FirmwareVersion? {
    for entry in entries { if let version = entry.report.to { return version } }
    return nil
  }

  /// The entry of the newest run.
  package var latest: Entry? { entries.first }
}

/// The number of devices of a board that run a version.
package struct VersionGroup: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    package let board: String?
    package let version: FirmwareVersion?
  }

  package let key: Key
  package let devices: Int
}

/// The versions of all devices, and the values of the filters.
package struct InventorySummary: Hashable, Sendable {
  package let groups: [VersionGroup]
  package let sites: [String]
  package let boards: [String]
}

/// A part of the table of all devices.
package struct InventoryQuery: Hashable, Sendable {
  package enum Order: String, Hashable, Sendable, CaseIterable {
    case name
    case device
    case site
    case board
    case version
    case last
  }

  package var text = ""
  package var site: String?
  package var board: String?
  /// The version to select, such as `1.3.0`, or `unknown`.
  package var version: String?
  package var order = Order.name
  package var isDescending = false
  package var page = 1
  package var size = DeviceQuery.pageSize

  package init() {}
}

/// The devices of all runs, with their results and running versions. The inventory is built from
/// the stored runs when the coordinator starts, and is updated while runs progress.
package final class DeviceInventory: Sendable {
  private let state = Mutex(InventoryTable())

  package init() {}

  package var revision: Int { state.withLock { $0.revision } }

  /// The number of devices, and whether all stored runs are included.
  package var extent: (devices: Int, isComplete: Bool) {
    state.withLock { ($0.devices.count, $0.isComplete) }
  }

  package subscript(id: FleetDevice.ID) -> KnownDevice? { state.withLock { $0[id] } }

  package func page(_ query: InventoryQuery) -> TablePage<KnownDevice> {
    state.withLock { $0.page(query) }
  }

  /// The number of devices by board and version.
  package var groups: [VersionGroup] { summary.groups }
  package var summary: InventorySummary { state.withLock { $0.summary() } }

  /// Records the results of devices in a run.
  func record(_ reports: [DeviceReport], of run: RunBeginning, began: WallClockTime) {
    state.withLock { $0.record(reports, of: run, began: began) }
  }

  /// Records whether all stored runs are included, or only the newest runs.
  func finishLoading(isComplete: Bool) { state.withLock { $0.isComplete = isComplete } }
}
#endif
