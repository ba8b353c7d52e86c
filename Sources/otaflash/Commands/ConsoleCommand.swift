import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// Shows the console of a device.
struct ConsoleCommand: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Show the log of a device, and send it lines.",
    discussion: """
      The console is the Nordic UART Service, the shell over SMP, or any characteristic that sends \
      text. Each line has its time of arrival. If the connection is lost, it is established again.

      At a terminal, type a line and press Enter to send it; the arrow keys recall earlier lines. \
      Ctrl-C or Ctrl-D ends the console. Otherwise, the lines of standard input are sent.

      To try it without a device:

        otaflash console -d 'sim:?log=1s'
        otaflash console -d 'sim:smp?shell=yes'
      """)

  @OptionGroup var target: DeviceOption
  @OptionGroup var console: ConsoleOptions

  @Option(
    name: .long,
    help: ArgumentHelp("End the console after this time.", valueName: "time"),
    transform: TimeSpan.parse)
  var timeLimit: TimeSpan?

  @OptionGroup var link: LinkOptions
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func validate() throws { try target.device.check(link) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let run = try ConsoleRun(console, in: session)
    let destination = try await ResolvedDevice.resolve(
      target.device, in: session, tuning: link.tuning(else: nil),
      isTuningExplicit: link.asksForSomething)
    try StateStore.open(session).connected(destination)
    try await destination.serving { (device) async throws(CommandFault) in
      try await show(run, of: device)
    }
    return Ending(
      exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "shown",
      devices: [Ending.Device(id: target.device.text, outcome: "shown")])
  }

  private func show(_ run: ConsoleRun, of device: ResolvedDevice) async throws(CommandFault) {
    let result = await withTaskGroup(
      of: Result<Void, CommandFault>.self, returning: Result<Void, CommandFault>.self
    ) { group in
      group.addTask {
        do throws(CommandFault) { return .success(try await run.run(on: device)) } catch {
          return .failure(error)
        }
      }
      if let timeLimit {
        group.addTask {
          _ = await Pause.sleep(for: timeLimit.duration)
          return .success(())
        }
      }
      defer { group.cancelAll() }
      return await group.next() ?? .success(())
    }
    try result.get()
  }
}
