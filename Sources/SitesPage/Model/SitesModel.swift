#if Sites
import OtaflashFleet

/// The data and operations of the page and the API, which the coordinator provides.
package protocol SitesModel: Sendable {
  /// Returns the gateways, sorted by site and name.
  func gateways() async throws(SitesFault) -> [GatewayState]

  /// Returns the transfers in progress, in any order.
  func transfers() async throws(SitesFault) -> [TransferState]

  /// Returns all runs, the newest first.
  func runs() async throws(SitesFault) -> [RunSummary]

  /// Returns a run with its devices.
  ///
  /// - Throws: `noRun`, `storage`.
  func run(_ id: String) async throws(SitesFault) -> RunBook

  /// Returns the state of a run and the hash of its last event, for the report of the run.
  func record(of run: String) async throws(SitesFault) -> RunRecord

  /// The devices of all runs.
  var devices: DeviceInventory { get }

  /// Starts a run of a campaign, or continues the run of an equal campaign.
  ///
  /// - Returns: the id of the run, which may have ended.
  /// - Throws: `invalidCampaign`, `refused`, `unavailable`, `storage`.
  func submit(_ submission: CampaignSubmission) async throws(SitesFault) -> String

  /// Gives a command to a run, and waits for its execution.
  ///
  /// - Parameters:
  ///   - person: the account of the operator.
  ///   - reason: the reason for the command in one line, which the run records.
  /// - Returns: the record of the command.
  /// - Throws: `noRun`, `refused`, `unanswered`, `storage`.
  func command(
    _ command: OperatorCommand, to run: String, by person: String, because reason: String
  ) async throws(SitesFault) -> OperatorAction
}

/// The state of a transfer in progress.
package struct TransferState: Hashable, Sendable {
  package let progress: JobProgress
  /// The time of the last report.
  package let at: WallClockTime

  package init(_ progress: JobProgress, at moment: WallClockTime) {
    self.progress = progress
    at = moment
  }
}

/// An entry in the list of runs.
package struct RunSummary: Hashable, Sendable {
  package let id: String
  package let campaign: String
  package let began: WallClockTime
  /// The state, as a clause.
  package let state: String
  package let hasEnded: Bool
  /// Whether the run continues only after a command of an operator.
  package let needsOperator: Bool
  /// Whether the coordinator is working on the run.
  package let isLive: Bool
  /// The number of events.
  package let events: Int

  package init(
    id: String, campaign: String, began: WallClockTime, state: String, hasEnded: Bool,
    needsOperator: Bool, isLive: Bool, events: Int
  ) {
    self.id = id
    self.campaign = campaign
    self.began = began
    self.state = state
    self.hasEnded = hasEnded
    self.needsOperator = needsOperator
    self.isLive = isLive
    self.events = events
  }
}

/// The state of a run, with the hash that covers all of its events.
package struct RunRecord: Sendable {
  package let run: FleetRun
  /// The hash of the last event; `nil` if further events were recorded in the meantime.
  package let head: [UInt8]?

  package init(run: FleetRun, head: [UInt8]?) {
    self.run = run
    self.head = head
  }
}
#endif
