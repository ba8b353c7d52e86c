#if Sites
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore
import Synchronization

/// The model of a coordinator: the store, and the runs on which the coordinator works.
///
/// ```swift
/// let sites = StoredSites(store: store, functions: .init(gateways: …, submit: …))
/// engine.observe = { events, run in sites.observe(events, run) }
/// ```
package final class StoredSites: SitesModel, Sendable {
  /// The functions of the coordinator.
  package struct Functions: Sendable {
    package var gateways: @Sendable () async throws(SitesFault) -> [GatewayState]
    package var submit: @Sendable (CampaignSubmission) async throws(SitesFault) -> String
    /// Called after a command for a run was stored, so that the coordinator can resume its work on
    /// the run.
    package var commanded: @Sendable (_ run: String) -> Void

    package init(
      gateways: @escaping @Sendable () async throws(SitesFault) -> [GatewayState],
      submit: @escaping @Sendable (CampaignSubmission) async throws(SitesFault) -> String,
      commanded: @escaping @Sendable (_ run: String) -> Void = { _ in }
    ) {
      self.gateways = gateways
      self.submit = submit
      self.commanded = commanded
    }
  }

  /// The time limit for the execution of a command, and the interval between two checks.
  private static let patience = Duration.seconds(10)
  private static let pollInterval = Duration.milliseconds(100)
  /// The age at which a transfer without a report is no longer shown.
  private static let transferLifetime = Duration.seconds(60)
  /// The maximum number of results that are read at the start; a device has one result in each run.
  private static let inventoryMaximum = 200_000

  package let devices = DeviceInventory()
  private let store: FleetStore
  private let archive: RunArchive
  private let functions: Functions
  private let environment: SitesEnvironment
  private let live = Mutex(LiveRuns())

  private struct LiveRuns {
    var books: [String: RunBook] = [:]
    var transfers: [UpdateJob.ID: TransferState] = [:]
  }

  package init(
    store: FleetStore, functions: Functions, environment: SitesEnvironment = SitesEnvironment()
  ) {
    self.store = store
    self.functions = functions
    self.environment = environment
    archive = RunArchive(store, uptime: environment.uptime)
  }

  // MARK: Reports of the coordinator

  /// Records events of a run on which the coordinator works, as `FleetEngine.observe` reports them.
  package func observe(_ events: [FleetEvent], _ run: FleetRun) {
    guard let beginning = run.beginning, let began = run.beganAt else { return }
    let (book, isNew) = live.withLock { live -> (RunBook, Bool) in
      for case .attemptEnded(let device, let attempt, _) in events {
        live.transfers[
          UpdateJob.ID(run: beginning.id, device: device, attempt: attempt)] = nil
      }
      if let book = live.books[beginning.id] { return (book, false) }
      let book = RunBook(run)
      live.books[beginning.id] = book
      return (book, true)
    }
    let changed = isNew ? nil : book.apply(events, after: run)
    let reports = book.read { index in
      (changed ?? Array(0..<index.deviceCount)).map { index.device(at: $0) }
    }
    if !reports.isEmpty { devices.record(reports, of: beginning, began: began) }
  }

  /// Ends the observation of a run, after the coordinator has stopped working on it.
  package func release(run: String) async {
    let book = live.withLock { live in
      live.transfers = live.transfers.filter { $0.key.run != run }
      return live.books.removeValue(forKey: run)
    }
    if let book { await archive.keep(book) }
  }

  /// Records the progress of a transfer.
  package func progressed(_ progress: JobProgress) {
    let state = TransferState(progress, at: environment.wall())
    live.withLock { $0.transfers[progress.job] = state }
  }

  /// Reads the stored runs into the inventory, the newest first. The page is available in the
  /// meantime.
  package func load() async throws(SitesFault) {
    var count = 0
    var isComplete = true
    for kept in try await archive.runs() {
      guard count < Self.inventoryMaximum, !Task.isCancelled else {
        isComplete = false
        break
      }
      guard live.withLock({ $0.books[kept.id] }) == nil else { continue }
      let run = try archive.run(kept.id)
      guard let beginning = run.beginning else { continue }
      count += run.devices.count
      devices.record(
        run.devices.map { DeviceReport($0, hasEnded: run.hasEnded) }, of: beginning,
        began: run.beganAt ?? kept.began)
    }
    devices.finishLoading(isComplete: isComplete)
  }

  // MARK: The model

  package func gateways() async throws(SitesFault) -> [GatewayState] {
    try await functions.gateways().sorted { ($0.site, $0.name) < ($1.site, $1.name) }
  }

  package func transfers() async throws(SitesFault) -> [TransferState] {
    let oldest = environment.wall().advanced(by: .zero - Self.transferLifetime)
    return live.withLock { live in
      live.transfers = live.transfers.filter { $0.value.at >= oldest }
      return Array(live.transfers.values)
    }
  }

  package func runs() async throws(SitesFault) -> [RunSummary] {
    let books = live.withLock { $0.books }
    var runs: [RunSummary] = []
    for kept in try await archive.runs() {
      guard let book = books[kept.id] else {
        let state = try await archive.state(of: kept)
        runs.append(
          RunSummary(
            id: kept.id, campaign: kept.campaign, began: kept.began, state: state.words,
            hasEnded: state.hasEnded, needsOperator: state.needsOperator, isLive: false,
            events: kept.events))
        continue
      }
      runs.append(
        book.read { index in
          RunSummary(
            id: kept.id, campaign: kept.campaign, began: kept.began, state: index.stateWords,
            hasEnded: index.hasEnded, needsOperator: index.needsOperator, isLive: true,
            events: index.run.eventCount)
        })
    }
    return runs
  }

  package func run(_ id: String) async throws(SitesFault) -> RunBook {
    if let book = live.withLock({ $0.books[id] }) { return book }
    return try await archive.book(id)
  }

  package func record(of run: String) async throws(SitesFault) -> RunRecord {
    let state = try await self.run(run).read { $0.run }
    return RunRecord(run: state, head: try await archive.head(of: run, events: state.eventCount))
  }

  package func submit(_ submission: CampaignSubmission) async throws(SitesFault) -> String {
    let run = try await functions.submit(submission)
    await archive.forgetList()
    return run
  }

  package func command(
    _ command: OperatorCommand, to run: String, by person: String, because reason: String
  ) async throws(SitesFault) -> OperatorAction {
    let book = try await self.run(run)
    let kind = try book.read { index throws(SitesFault) in
      do throws(CommandRefusal) { _ = try FleetRules.events(for: command, in: index.run) } catch {
        throw SitesFault.refused(words: "\(error)")
      }
      return FleetRules.kind(of: command, in: index.run)
    }
    let action = OperatorAction(kind, by: person, reason: reason)
    let answer = try await ask(command, action, of: run)
    guard answer == CommandAnswer.done else { throw .refused(words: answer) }
    return action
  }

  private func ask(
    _ command: OperatorCommand, _ action: OperatorAction, of run: String
  ) async throws(SitesFault) -> String {
    do throws(StorageFault) {
      let number = try store.request(command, by: action, of: run, at: environment.wall())
      functions.commanded(run)
      let deadline = environment.uptime() + Self.patience
      while environment.uptime() < deadline {
        if let answer = try store.answer(to: number) { return answer }
        guard await environment.pause(Self.pollInterval) else { break }
      }
    } catch {
      throw .storage(error)
    }
    throw .unanswered(run: run)
  }
}
#endif
