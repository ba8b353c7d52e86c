import Glibc

/// A yes-or-no question to the person at the terminal.
package enum Question {
  /// `true` when the answer is yes: at once with `--yes`; never without a terminal, with
  /// `--no-input`, `--json` or `--quiet`, or once a signal came.
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
