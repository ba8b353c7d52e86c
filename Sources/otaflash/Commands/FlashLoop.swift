import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// `flash --watch`: flashes each new build of a file until a signal arrives.
struct FlashLoop: Sendable {
  let command: Flash
  let session: Session

  func run(on device: DeviceSelector) async throws(CommandFault) -> Ending {
    let (destination, records) = try await command.resolve(device, in: session)
    // One power-on for all builds: a simulated device is not started twice.
    let ending = await destination.withDevice { () async -> Result<Ending, CommandFault> in
      do throws(CommandFault) {
        return .success(try await repeatedly(destination.alreadyServed, records))
      } catch {
        return .failure(error)
      }
    }
    return try ending.get()
  }

  private func repeatedly(
    _ destination: ResolvedDevice, _ records: StateStore
  ) async throws(CommandFault) -> Ending {
    var watch = BuildWatch(SystemFile(path: command.image), clock: destination.clock)
    var (number, devices) = (0, [Ending.Device]())
    note("waiting for a new build of \(command.image); Ctrl-C ends")
    session.console.event("build", ["outcome": .string("waiting")])
    while true {
      let build = await watch.next(remark: remark) { () throws(CommandFault) in
        try command.firmware(in: session)
      }
      guard let build else {
        return Ending(
          exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "watched",
          devices: devices)
      }
      number += 1
      note("build \(number)")
      command.announce(build.value, in: session)
      let times = BuildTimes()
      do throws(CommandFault) {
        let result = try await flash(build.value, on: destination, records, times)
        session.updates.end(ok: true)
        command.report(result, of: build.value, in: session)
        devices = [command.ending(of: result, build.value)]
        let total = build.changed.duration(to: destination.clock.now)
        report(result.outcome.rawValue, number, times, total: total)
      } catch {
        guard session.interruption.signal == nil, !Task.isCancelled else { throw error }
        session.updates.end(ok: false)
        session.console.fail(session.context.report(error))
        session.console.event(
          "build", ["number": .integer(number), "outcome": .string("failed")])
      }
      note("waiting for the next build; Ctrl-C ends")
    }
  }

  private func flash(
    _ firmware: FirmwarePackage, on destination: ResolvedDevice, _ records: StateStore,
    _ times: BuildTimes
  ) async throws(CommandFault) -> UpdateResult {
    var options = try command.updateOptions(for: firmware, in: session)
    let result = try await command.send(
      firmware, options, to: destination, records, in: session, observing: { times.observe($0) })
    // The file is new, so an equal version alone does not show that the device runs it.
    guard result.outcome == .alreadyCurrent, result.proof == .version else { return result }
    options.update.sendsAnyway = true
    return try await command.send(
      firmware, options, to: destination, records, in: session, observing: { times.observe($0) })
  }

  // MARK: Output

  private func note(_ text: String) { session.console.note(text) }

  private func remark(_ remark: BuildRemark<CommandFault>) {
    switch remark {
    case .inProgress(let bytes):
      let size = bytes.map { "\(Text.grouped($0)) B so far" } ?? "the file is missing"
      note("build in progress (\(size))")
    case .unchanged: session.console.note("written again without a change", verbosity: 1)
    case .skipped(let fault):
      guard session.interruption.signal == nil else { return }
      let report = session.context.report(fault)
      note("build skipped: \(report.what)")
      note("  \(report.why)")
      session.console.event(
        "build", ["outcome": .string("skipped"), "reason": .string(report.what)])
    }
  }

  private func report(_ outcome: String, _ number: Int, _ times: BuildTimes, total: Duration) {
    let rest = total - times.transfer - times.restart
    session.console.result(
      "        \(Text.seconds(total)) from the change of the file to running (transfer "
        + "\(Text.seconds(times.transfer)), restart \(Text.seconds(times.restart)), other "
        + "\(Text.seconds(rest)))")
    session.console.event(
      "build",
      [
        "number": .integer(number), "outcome": .string(outcome),
        "ms": .integer(total.inMilliseconds),
        "transfer_ms": .integer(times.transfer.inMilliseconds),
        "restart_ms": .integer(times.restart.inMilliseconds),
      ])
  }
}
