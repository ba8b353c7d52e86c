import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// `flash --watch`: flashes each new build of a file until a signal arrives.
struct FlashLoop: Sendable {
  let command: Flash
  let session: Session

  private typealias Build = (value: FirmwarePackage, changed: LinkInstant)

  func run(on device: DeviceSelector) async throws(CommandFault) -> Ending {
    let (destination, records) = try await command.resolve(device, in: session)
    return try await destination.serving { (device) async throws(CommandFault) in
      try await repeatedly(device, records)
    }
  }

  private func repeatedly(
    _ destination: ResolvedDevice, _ records: StateStore
  ) async throws(CommandFault) -> Ending {
    let console = try command.monitor ? ConsoleRun(command.console, in: session) : nil
    var watch = BuildWatch(SystemFile(path: command.image), clock: destination.clock)
    var (number, devices) = (0, [Ending.Device]())
    note("waiting for a new build of \(command.image); Ctrl-C ends")
    session.console.event("build", ["outcome": .string("waiting")])
    while true {
      let build: Build?
      (watch, build) = await next(watch, showing: console, of: destination)
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

  /// Waits for the next build while the console of the device is shown.
  private func next(
    _ watch: BuildWatch, showing console: ConsoleRun?, of device: ResolvedDevice
  ) async -> (BuildWatch, Build?) {
    await withTaskGroup(of: (BuildWatch, Build?)?.self, returning: (BuildWatch, Build?).self) {
      group in
      group.addTask {
        var watch = watch
        let build = await watch.next(remark: remark) { () throws(CommandFault) in
          try command.firmware(in: session)
        }
        return (watch, build)
      }
      if let console { group.addTask { await show(console, of: device) } }
      defer { group.cancelAll() }
      for await part in group { if let part { return part } }
      return (watch, nil)
    }
  }

  /// Shows the console. A device without a console is reported, and does not end the watch.
  private func show(_ console: ConsoleRun, of device: ResolvedDevice) async -> (BuildWatch, Build?)?
  {
    do throws(CommandFault) {
      try await console.run(on: device)
    } catch {
      if !Task.isCancelled { session.console.fail(session.context.report(error)) }
    }
    return nil
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
