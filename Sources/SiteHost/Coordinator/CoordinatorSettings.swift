#if Sites
import OtaflashFleet

extension CoordinatorService {
  /// The settings of a coordinator.
  package struct Settings: Sendable {
    /// The number of jobs that may wait at one site.
    package var publishedAhead = 16
    /// The time for which the gateways of a site search for a device; then the attempt ends.
    package var search = Duration.seconds(60)
    package var permitsHooks = false
    /// The number of servers that store each entry.
    package var replicas = 1

    package init() {}
  }

  /// The observers of a coordinator, such as its page.
  package struct Observers: Sendable {
    package var observe: @Sendable ([FleetEvent], FleetRun) -> Void = { _, _ in }
    package var progressed: @Sendable (JobProgress) -> Void = { _ in }
    /// Called after the work on a run has ended.
    package var released: @Sendable (String) async -> Void = { _ in }

    package init() {}
  }
}
#endif
