#if Fleet
import ArgumentParser
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// The run that a command is about.
struct RunOption: ParsableArguments, Sendable {
  @Argument(help: "The run, by the beginning of its name; the last one unless told.")
  var run: String?
}

/// A command that asks something of a run, whether a process works on it or not.
protocol RequestCommand: Subcommand {
  var runName: String? { get }
  var order: FleetOrder { get }
}

extension RequestCommand {
  static var words: String { "fleet " + (configuration.commandName ?? "") }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let request = FleetRequest(order, session: session)
    let run = try await request.put(for: runName)
    session.console.result("run \(run): \(Self.configuration.commandName ?? "") done")
    return .done("done")
  }
}

/// One request for one run.
struct FleetRequest: Sendable {
  /// The process that works on a run looks for requests several times a second.
  private static let patience = Duration.seconds(10)
  private static let pollInterval = Duration.milliseconds(100)

  private let order: FleetOrder
  private let session: Session

  init(_ order: FleetOrder, session: Session) {
    self.order = order
    self.session = session
  }

  /// - Returns: the run's name, once the request was followed.
  func put(for name: String?) async throws(CommandFault) -> String {
    let folder = try FleetFolder(of: session)
    guard try folder.look() != nil else { throw .fleet(.search(.none)) }
    let lock: RunLock
    do throws(RunLockFault) { lock = try RunLock(store: folder.store) } catch {
      guard case .held = error else { throw .fleet(.held(error)) }
      return try await ask(name, in: folder)
    }
    let run = try await follow(name, in: folder)
    lock.release()
    return run
  }

  /// Nobody works on runs: the request is followed here.
  private func follow(
    _ name: String?, in folder: FleetFolder
  ) async throws(CommandFault) -> String {
    let store = try folder.open()
    let kept = try store.find(name)
    let run = FleetRun(try await store.history(of: kept.id))
    let events: [FleetEvent]
    let order = order.resolvingAliases(by: try session.aliases(), in: run)
    do throws(OrderRefusal) { events = try FleetRules.events(for: order, in: run) } catch {
      throw .fleet(.refused(error, run: kept.id))
    }
    do throws(StorageFault) {
      let ledger = store.ledger(of: kept.id)
      let seen = try await ledger.history().newsSeen
      try await ledger.append(events, at: run.time(.now), newsSeen: seen)
    } catch {
      throw .fleet(.store(error))
    }
    return kept.id
  }

  /// Another process works on runs: it is asked, and answers.
  private func ask(_ name: String?, in folder: FleetFolder) async throws(CommandFault) -> String {
    let store = try folder.open()
    let kept = try store.find(name)
    let run = FleetRun(try await store.history(of: kept.id))
    let order = order.resolvingAliases(by: try session.aliases(), in: run)
    let deadline = ContinuousClock.now + Self.patience
    do throws(StorageFault) {
      let number = try store.request(order, of: kept.id, at: .now)
      while ContinuousClock.now < deadline, await Pause.sleep(for: Self.pollInterval) {
        guard let answer = try store.answer(to: number) else { continue }
        session.console.note("  answered: \(answer)")
        return kept.id
      }
    } catch {
      throw .fleet(.store(error))
    }
    throw .fleet(.unanswered(run: kept.id))
  }
}

struct FleetPauseCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Begin no more devices; those under way are finished.")

  @OptionGroup var option: RunOption
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var order: FleetOrder { .pause }
}

struct FleetResumeCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Go on after a pause, and agree to what waits for approval.")

  @OptionGroup var option: RunOption
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var order: FleetOrder { .resume }
}

struct FleetCancelCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "End a run; what is under way ends at a safe point.")

  @OptionGroup var option: RunOption
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var order: FleetOrder { .cancel }
}

struct FleetRetryCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Try devices once more: those named, or all that did not succeed.",
    discussion: "`fleet run` with the same campaign does it, or does it already.")

  @Argument(help: "The run, by the beginning of its name.")
  var run: String

  @Argument(help: "Devices by id, name or alias.")
  var devices: [String] = []

  @OptionGroup var global: GlobalOptions

  var runName: String? { run }
  var order: FleetOrder { .retry(devices) }
}
#endif
