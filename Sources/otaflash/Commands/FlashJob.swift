import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

/// One update.
struct FlashJob: Sendable {
  let package: FirmwarePackage
  let destination: ResolvedDevice
  let notebook: JournalWriter
  let limit: Duration?
  let session: Session
  var observe: @Sendable (UpdateEvent) -> Void = { _ in }

  func run(_ options: UpdateOptions) async throws(CommandFault) -> UpdateResult {
    let (result, isLate) = await session.displaying(atMost: limit) { await update(options) }
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
}
