import ArgumentParser
import OtaflashBench
import OtaflashDevices

/// Tests the installed program on simulated boards.
struct SelfTestCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "self-test",
    abstract: "Test this installation on simulated boards in a few seconds.",
    discussion: """
      Updates a simulated board with each update protocol in virtual time, with a lost link, and \
      verifies the running image. Also tests refusals, links over a socket, and the state files in \
      a temporary directory. Requires no device, adapter or file, and leaves no files. To check \
      the requirements of Bluetooth, use doctor.
      """)

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    var failed: [String] = []
    let checks = SelfTest.checks(environment: session.environment)
    let width = checks.map(\.name.count).max() ?? 0
    for check in checks {
      guard !Task.isCancelled else { throw .stopped }
      let outcome = await check.run()
      session.console.event("check", outcome.members)
      session.console.result(outcome.line(nameWidth: width))
      if !outcome.passed { failed.append(outcome.name) }
    }
    guard failed.isEmpty else { throw .selfTestFailed(failed, of: checks.count) }
    session.console.note("all \(checks.count) checks passed")
    return .done("healthy")
  }
}
