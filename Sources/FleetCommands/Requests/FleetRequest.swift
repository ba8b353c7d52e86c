#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore

/// One request for one run.
struct FleetRequest: Sendable {
  /// The time limit for the answer. The process that works on a run polls for requests several
  /// times per second.
  private static let patience = Duration.seconds(10)
  private static let pollInterval = Duration.milliseconds(100)

  /// A request that was carried out.
  struct Followed: Sendable {
    let kept: KeptRun
    /// The run before the request.
    let run: FleetRun
    let command: OperatorCommand
    /// Whether another process is working on the run, and carried out the request.
    let isActive: Bool

    /// The name of the run and its campaign, such as `run 7f3a12 (doors)`.
    var name: String { "run \(kept.id) (\(kept.campaign))" }

    /// Whether updates can start after the request, so that a command that continues the run is
    /// useful.
    var continues: Bool {
      switch command {
      case .resume, .retry: true
      case .pause, .cancel: false
      }
    }

    /// Returns the command that continues the run.
    func continuation(in session: Session) -> String {
      session.command("fleet", "run", run.beginning?.file ?? "CAMPAIGN.yaml")
    }
  }

  private let command: OperatorCommand
  private let person: OperatorOptions
  private let session: Session

  init(_ command: OperatorCommand, by person: OperatorOptions, session: Session) {
    self.command = command
    self.person = person
    self.session = session
  }

  /// Sends the request to the process that works on the run, or carries out the request here.
  ///
  /// - Parameter question: returns the question about the run with a name, which the user must
  ///   confirm before any change; `nil` = no question.
  /// - Throws: a fault, also if the request was refused.
  func put(
    for name: String?, asking question: (String) -> String?
  ) async throws(CommandFault) -> Followed {
    let folder = try FleetFolder(of: session)
    guard try folder.look() != nil else { throw .fleet(.search(.none)) }
    let store = try folder.open()
    let kept = try folder.find(name, in: store)
    if let question = question("run \(kept.id) (\(kept.campaign))"),
      !Question.ask(question, in: session)
    {
      throw .fleet(.unconfirmed(run: kept.id))
    }
    guard !folder.isActive(kept.id) else { return try await ask(kept, in: store) }
    let lock = try await folder.lock(run: kept.id)
    let followed = try await follow(kept, in: store)
    lock.release()
    return followed
  }

  /// Carries out the request in this process, because no other process is working on the run.
  private func follow(
    _ kept: KeptRun, in store: FleetStore
  ) async throws(CommandFault) -> Followed {
    _ = try store.checkedChain(of: kept.id)
    let run = FleetRun(try await store.history(of: kept.id))
    let command = command.resolvingAliases(by: try session.aliases(), in: run)
    let action = person.action(FleetRules.kind(of: command, in: run))
    let events = [.operatorActed(action)] + (try events(for: command, of: kept.id, in: run))
    do throws(StorageFault) {
      try await store.ledger(of: kept.id).append(events, at: run.time(.now))
    } catch {
      throw .fleet(.store(error))
    }
    return Followed(kept: kept, run: run, command: command, isActive: false)
  }

  /// Returns the events of the request. A run without a process has no update in progress, so a
  /// cancelled run also ends immediately.
  private func events(
    for command: OperatorCommand, of id: String, in run: FleetRun
  ) throws(CommandFault) -> [FleetEvent] {
    if command == .cancel, case .cancelling = run.control { return [.runEnded(.cancelled)] }
    do throws(CommandRefusal) {
      let events = try FleetRules.events(for: command, in: run)
      return command == .cancel ? events + [.runEnded(.cancelled)] : events
    } catch {
      throw .fleet(.refused(words: "\(error)", run: id))
    }
  }

  /// Sends the request to the process that works on the run, and waits for its answer.
  private func ask(_ kept: KeptRun, in store: FleetStore) async throws(CommandFault) -> Followed {
    let run = FleetRun(try await store.history(of: kept.id))
    let command = command.resolvingAliases(by: try session.aliases(), in: run)
    let deadline = ContinuousClock.now + Self.patience
    var answer: String?
    do throws(StorageFault) {
      let action = person.action(FleetRules.kind(of: command, in: run))
      let number = try store.request(command, by: action, of: kept.id, at: .now)
      while answer == nil, ContinuousClock.now < deadline,
        await Pause.sleep(for: Self.pollInterval)
      {
        answer = try store.answer(to: number)
      }
    } catch {
      throw .fleet(.store(error))
    }
    guard let answer else { throw .fleet(.unanswered(run: kept.id)) }
    guard answer == CommandAnswer.done else { throw .fleet(.refused(words: answer, run: kept.id)) }
    return Followed(kept: kept, run: run, command: command, isActive: true)
  }
}
#endif
