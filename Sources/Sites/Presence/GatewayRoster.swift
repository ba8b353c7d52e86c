#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashNATS

/// The gateways that the coordinator has seen. Times are on the coordinator's clock: a gateway is
/// seen when its entry has a new revision.
package struct GatewayRoster: Sendable {
  /// A gateway.
  package struct Gateway: Hashable, Sendable {
    /// The site from the key of the entry, because only this gateway can write this key.
    package let site: String
    package let name: String
    /// The last report; `nil` if the report cannot be decoded.
    package let report: GatewayReport?
    /// The time at which the last report was seen.
    package let lastSeen: Duration
    /// Whether the bucket still contains the last report, and the age of the report is at most
    /// `SiteLayout.presenceLifetime`.
    package let isRunning: Bool
  }

  private struct Row {
    let site: String
    let name: String
    var report: GatewayReport?
    var revision: UInt64
    var lastSeen: Duration
    var isPresent: Bool
  }

  private var rows: [String: Row] = [:]

  package init() {}

  /// Records the entries of the bucket `PRESENCE`.
  package mutating func update(with entries: [SiteEntry], at now: Duration) {
    for key in rows.keys { rows[key]?.isPresent = false }
    for entry in entries {
      let tokens = entry.key.split(separator: ".")
      guard tokens.count == 2, let site = SubjectToken.text(of: tokens[0]),
        let name = SubjectToken.text(of: tokens[1])
      else { continue }
      if rows[entry.key]?.revision == entry.revision {
        rows[entry.key]?.isPresent = true
        continue
      }
      rows[entry.key] = Row(
        site: site, name: name, report: Self.decode(entry.value), revision: entry.revision,
        lastSeen: now, isPresent: true)
    }
  }

  /// Reads all entries of the bucket.
  package mutating func update(
    from entries: any SiteEntries, at now: Duration
  ) async throws(NATSFault) {
    update(with: try await entries.all(), at: now)
  }

  /// Returns all gateways, sorted by site and name.
  package func gateways(at now: Duration) -> [Gateway] {
    rows.values.map { row in
      Gateway(
        site: row.site, name: row.name, report: row.report, lastSeen: row.lastSeen,
        isRunning: row.isPresent && now - row.lastSeen <= SiteLayout.presenceLifetime)
    }.sorted { ($0.site, $0.name) < ($1.site, $1.name) }
  }

  private static func decode(_ value: [UInt8]) -> GatewayReport? {
    do { return try JSONDecoder().decode(GatewayReport.self, from: Data(value)) } catch {
      return nil
    }
  }
}
#endif
