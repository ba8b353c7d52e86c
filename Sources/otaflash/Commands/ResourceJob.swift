import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

/// One transfer of resources, together with the refresh of its display and its time limit.
struct ResourceJob: Sendable {
  private enum Part: Sendable {
    case transfer(Result<ResourceUpdate.Outcome, UpdateFault>)
    case timeIsUp
    case display
  }

  private static let tickInterval = Duration.milliseconds(250)

  let package: ResourcePackage
  let destination: ResolvedDevice
  let limit: Duration?
  let session: Session

  /// Transfers the resources, and prints the result.
  func run(_ options: UpdateOptions) async throws(CommandFault) -> ResourceUpdate.Outcome {
    let size = Text.grouped(package.size)
    session.console.note(
      "\(package.name)  \(Text.counted(package.files.count, "file")), \(size) B")
    let lock = try destination.lock()
    let outcome: ResourceUpdate.Outcome
    do throws(UpdateFault) {
      outcome = try await transfer(options).get()
    } catch {
      throw .update(error)
    }
    lock.release()
    session.updates.end(ok: true)
    report(outcome, isDryRun: options.isDryRun)
    return outcome
  }

  private func transfer(
    _ options: UpdateOptions
  ) async -> Result<ResourceUpdate.Outcome, UpdateFault> {
    await withTaskGroup(
      of: Part.self, returning: Result<ResourceUpdate.Outcome, UpdateFault>.self
    ) { group in
      group.addTask { .transfer(await result(options)) }
      group.addTask { await display() }
      if let limit { group.addTask { await Pause.sleep(for: limit) ? .timeIsUp : .display } }
      var isLate = false
      for await part in group {
        switch part {
        case .transfer(let result):
          group.cancelAll()
          return result.mapError { isLate ? $0.ended(by: limit ?? .zero) : $0 }
        case .timeIsUp:
          isLate = true
          group.cancelAll()
        case .display: break
        }
      }
      preconditionFailure("the transfer ended without a result")
    }
  }

  private func result(
    _ options: UpdateOptions
  ) async -> Result<ResourceUpdate.Outcome, UpdateFault> {
    let update = ResourceUpdate(package, options: options) { session.updates.observe($0) }
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

  // MARK: Output

  private func report(_ outcome: ResourceUpdate.Outcome, isDryRun: Bool) {
    session.console.event(
      "resources",
      [
        "outcome": .string(outcome.word(isDryRun: isDryRun)), "file": .string(package.name),
        "sent": .array(outcome.sent.map { .string($0) }),
        "present": .array(outcome.present.map { .string($0) }),
        "deleted": .array(outcome.deleted.map { .string($0) }),
        "bytes": .integer(package.size), "resumed_from": .integer(outcome.resumedFrom),
        "bytes_sent": .integer(outcome.bytesSent), "connections": .integer(outcome.connections),
        "ms": .integer(outcome.took.inMilliseconds),
      ])
    session.console.result(sentence(outcome, isDryRun: isDryRun))
  }

  private func sentence(_ outcome: ResourceUpdate.Outcome, isDryRun: Bool) -> String {
    let present = outcome.present.count
    guard !isDryRun else {
      let missing = package.files.count - present
      return "resources  \(Text.counted(missing, "file")) would be sent, \(present) already there"
    }
    guard !outcome.sent.isEmpty || !outcome.deleted.isEmpty else {
      return "resources  already there: \(Text.counted(present, "file")), verified by reading"
    }
    var parts = ["\(Text.counted(outcome.sent.count, "file")) sent and read back"]
    if present > 0 { parts.append("\(present) already there") }
    if !outcome.deleted.isEmpty { parts.append("\(outcome.deleted.count) obsolete deleted") }
    if outcome.resumedFrom > 0 {
      parts.append("resumed from \(Text.grouped(outcome.resumedFrom))")
    }
    return "resources  \(parts.joined(separator: ", ")), in \(Text.seconds(outcome.took))"
  }
}

extension ResourceUpdate.Outcome {
  /// The outcome as one word.
  func word(isDryRun: Bool) -> String {
    if isDryRun { return "would-send" }
    return sent.isEmpty && deleted.isEmpty ? "present" : "sent"
  }
}
