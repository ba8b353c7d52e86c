import Glibc

/// A yes-or-no question to the user at the terminal.
package enum Question {
  /// Returns `true` if the answer is yes. With `--yes`, the answer is yes immediately. Without a
  /// terminal, with `--no-input`, `--json` or `--quiet`, or after a signal, the answer is never
  /// yes.
  package static func ask(_ text: String, in session: some InteractiveSession) -> Bool {
    if session.questions.yes { return true }
    guard session.mayAsk, isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1,
      session.interruption.signal == nil
    else { return false }
    session.console.prompt(text + " [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }
}
