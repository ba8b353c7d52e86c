import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

/// One update, together with the refresh of its display and its time limit.
struct FlashJob: Sendable {
  private enum Part: Sendable {
    case update(Result<UpdateResult, UpdateFault>)
    case timeIsUp
    case display
  }

  private static let tickInterval = Duration.milliseconds(250)

  let package: FirmwarePackage
  let destination: ResolvedDevice
  let notebook: JournalWriter
  let limit: Duration?
  let session: Session
  var observe: @Sendable (UpdateEvent) -> Void = { _ in }

  func run(_ options: UpdateOptions) async throws(CommandFault) -> UpdateResult {
    let (result, isLate) = await withTaskGroup(
      of: Part.self, returning: (Result<UpdateResult, UpdateFault>, isLate: Bool).self
    ) { group in
      group.addTask { .update(await update(options)) }
      group.addTask { await display() }
      if let limit { group.addTask { await wait(limit) } }
      var isLate = false
      for await part in group {
        switch part {
        case .update(let result):
          group.cancelAll()
          return (result, isLate)
        case .timeIsUp:
          isLate = true
          group.cancelAll()
        case .display: break
        }
      }
      preconditionFailure("the update ended without a result")
    }
    switch result {
    case .success(let result):
      if result.outcome != .wouldFlash { notebook.done() }
      return result
    case .failure(let fault):
      notebook.brokenOff(by: fault)
      if case .imageNotTaken(let offered) = fault {
        throw .imageNotTaken(by: offered, package)
      }
      throw .update(isLate ? fault.ended(by: limit ?? .zero) : fault)
    }
  }

  private func update(_ options: UpdateOptions) async -> Result<UpdateResult, UpdateFault> {
    let update = FirmwareUpdate(package: package, options: options) { event in
      notebook.observe(event)
      observe(event)
      if case .stageBegan(let stage) = event {
        session.console.note(
          "  stage \(stage.rawValue)", verbosity: ConnectionLog.stepVerbosity)
      }
      session.updates.observe(event)
    }
    return await destination.withDevice {
      do throws(UpdateFault) {
        return .success(try await update.run(on: destination.dialer, clock: destination.clock))
      } catch {
        return .failure(error)
      }
    }
  }

  private func display() async -> Part {
    while await Pause.sleep(for: Self.tickInterval) { session.updates.tick() }
    return .display
  }

  private func wait(_ limit: Duration) async -> Part {
    await Pause.sleep(for: limit) ? .timeIsUp : .display
  }
}
