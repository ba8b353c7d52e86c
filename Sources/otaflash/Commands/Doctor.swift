import ArgumentParser
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashProgram
import OtaflashState

/// Checks the requirements of flashing, and prints remedies.
struct DoctorCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check adapter, kernel, permissions and state directory, and suggest remedies.")

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let checks =
      await Doctor().examine().map {
        HealthCheck($0, session.context.program)
      } + [stateCheck(session)]
    for check in checks { session.console.event("check", check.members) }
    for line in Text.table(checks.map(\.row)) { session.console.result(line) }
    let failed = checks.filter { $0.verdict == .fail }
    guard let first = failed.first else { return .done("healthy") }
    throw .unhealthy(failed: failed.count, command: first.command)
  }

  private func stateCheck(_ session: Session) -> HealthCheck {
    do throws(StateFault) {
      let directory = try StateDirectory.locate(environment: session.environment)
      try directory.create()
      return HealthCheck(
        name: "state directory", verdict: .pass, finding: directory.path, remedy: nil)
    } catch {
      return HealthCheck(
        name: "state directory", verdict: .fail, finding: "\(error)",
        remedy: "Set XDG_STATE_HOME to a writable directory; `mktemp -d` creates one."
      )
    }
  }
}

/// A check of otaflash or of the Bluetooth stack.
private struct HealthCheck {
  let name: String
  let verdict: DoctorCheck.Verdict
  let finding: String
  let remedy: String?

  init(name: String, verdict: DoctorCheck.Verdict, finding: String, remedy: String?) {
    self.name = name
    self.verdict = verdict
    self.finding = finding
    self.remedy = remedy
  }

  init(_ check: DoctorCheck, _ program: String) {
    self.init(
      name: check.check, verdict: check.verdict, finding: check.finding,
      remedy: check.remedy.map { $0.words(for: program) ?? $0.description })
  }

  /// The command of the remedy, or the command that lists the adapters.
  var command: String {
    let parts = (remedy ?? "").split(separator: "`", omittingEmptySubsequences: false)
    return parts.count > 2 ? String(parts[1]) : "btmgmt info"
  }

  var row: [String] {
    [verdict.rawValue, name, [finding, remedy].compactMap(\.self).joined(separator: " ")]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "name": .string(name), "verdict": .string(verdict.rawValue), "finding": .string(finding),
      "remedy": remedy.map { .string($0) },
    ])
  }
}
