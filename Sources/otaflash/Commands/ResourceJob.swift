import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

/// One transfer of resources.
struct ResourceJob: Sendable {
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
    let (result, isLate) = await session.displaying(atMost: limit) { await transfer(options) }
    let outcome: ResourceUpdate.Outcome
    do throws(UpdateFault) { outcome = try result.get() } catch {
      throw .update(isLate ? error.ended(by: limit ?? .zero) : error)
    }
    lock.release()
    session.updates.end(ok: true)
    report(outcome, isDryRun: options.isDryRun)
    return outcome
  }

  private func transfer(
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
