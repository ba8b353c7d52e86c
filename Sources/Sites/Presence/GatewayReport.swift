#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS

/// The state that a gateway reports.
package struct GatewayReport: Hashable, Sendable, Codable {
  /// The version of otaflash on the gateway.
  package var version: String
  /// The names of the gateway's adapters.
  package var adapters: [String]
  /// The maximum number of concurrent jobs.
  package var places: Int
  package var jobs: [UpdateJob.ID]
  /// The start of the process on the gateway's clock. The time is only displayed, because the clock
  /// may be wrong.
  package var startedAt: WallClockTime

  package init(
    version: String, adapters: [String], places: Int, jobs: [UpdateJob.ID],
    startedAt: WallClockTime
  ) {
    self.version = version
    self.adapters = adapters
    self.places = places
    self.jobs = jobs
    self.startedAt = startedAt
  }
}

/// Reports a gateway in the bucket `PRESENCE`. A report may be lost.
package struct PresenceReporter: Sendable {
  /// The time between two reports.
  package static let interval = Duration.seconds(15)

  private let entries: any SiteEntries
  private let key: String
  private let clock: any LinkClock

  package init(
    _ entries: any SiteEntries, site: String, gateway: String, clock: any LinkClock
  ) {
    self.entries = entries
    self.clock = clock
    key = SiteLayout.key(site: site, gateway: gateway)
  }

  /// Reports immediately and then every 15 s, until the task is cancelled.
  ///
  /// - Throws: `.notPermitted` or `.closed`, because later reports would also fail.
  package func run(
    _ report: @Sendable () async -> GatewayReport
  ) async throws(NATSFault) {
    repeat {
      do throws(NATSFault) {
        try await send(await report())
      } catch {
        switch error {
        case .notPermitted, .closed: throw error
        // The next report replaces the lost report.
        default: break
        }
      }
    } while await clock.pause(for: Self.interval)
  }

  /// Reports the gateway once.
  package func send(_ report: GatewayReport) async throws(NATSFault) {
    let value: [UInt8]
    do { value = Array(try JSONEncoder().encode(report)) } catch {
      preconditionFailure("a report cannot be encoded: \(error)")
    }
    try await entries.put(key, value)
  }

  /// Removes the report of a gateway that is about to end.
  package func end() async throws(NATSFault) {
    try await entries.remove(key, expecting: nil)
  }
}
#endif
