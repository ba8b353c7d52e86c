import ArgumentParser
import OtaflashDevices

/// Prints a completion script for a shell.
struct Completion: Subcommand {
  enum Shell: String, ExpressibleByArgument, CaseIterable, Sendable {
    case bash, zsh, fish

    fileprivate var completionShell: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "completion",
    abstract: "Print a shell's completion script.",
    discussion: """
      For bash:

        otaflash completion bash > ~/.local/share/bash-completion/completions/otaflash
      """)

  @Argument(help: "The shell: bash, zsh or fish.") var shell: Shell
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let script = Otaflash.completionScript(for: shell.completionShell)
    session.console.result(ownText: script)
    session.console.event(
      "completion", ["shell": .string(shell.rawValue), "script": .string(script)])
    return .done("printed")
  }
}
