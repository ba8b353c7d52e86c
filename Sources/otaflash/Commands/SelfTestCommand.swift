import ArgumentParser
import OtaflashBench
import OtaflashDevices

/// The whole chain on simulated boards, as it is installed here.
struct SelfTestCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "self-test",
    abstract: "Try this installation on simulated boards, in a moment.",
    discussion: """
      Each update protocol brings an image onto a simulated board in virtual time, loses its link, \
      goes on, and proves what runs; what must be refused is refused; links over a socket and the \
      files of the state are tried in a temporary folder. No device, adapter or file is needed, \
      and nothing stays behind. What Bluetooth needs, doctor checks.
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
