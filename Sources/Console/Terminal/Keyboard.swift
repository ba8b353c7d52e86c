import Glibc

/// The keys that a person presses while a command runs.
package struct Keyboard: Sendable {
  /// Shorter than anybody notices, and longer than the bytes of one key are apart.
  private static let interval = Duration.milliseconds(30)

  private let terminal: RawTerminal

  /// Whether there is a person who sees what is asked and can answer it.
  package static func isAvailable(in session: some InteractiveSession) -> Bool {
    session.mayAsk && isatty(STDIN_FILENO) == 1
      && FileOutput.standardError.isTerminal && session.environment["TERM"] != "dumb"
      && (session.environment["CI"] ?? "").isEmpty
  }

  /// Runs `body` with the keys; the terminal is as it was when that has ended.
  package static func use<Value: Sendable>(
    in session: some InteractiveSession, _ body: (Keyboard) async -> Value
  ) async -> Value? {
    guard isAvailable(in: session), let terminal = RawTerminal() else { return nil }
    let console = session.console
    session.interruption.onLeaving {
      console.restoreTerminal()
      terminal.leave()
    } onReturn: {
      terminal.enter()
      console.takeTerminalBack()
    }
    let value = await body(Keyboard(terminal: terminal))
    terminal.leave()
    session.interruption.onLeaving(
      { console.restoreTerminal() }, onReturn: { console.takeTerminalBack() })
    return value
  }

  /// Tells of each key until `take` says that it is enough, or the task is cancelled.
  package func watch(_ take: (Key) -> Bool) async {
    var decoder = KeyDecoder()
    while !Task.isCancelled {
      guard let bytes = terminal.read() else {
        _ = take(.leave)
        return
      }
      for key in bytes.isEmpty ? decoder.pause() : decoder.take(bytes) where take(key) {
        return
      }
      guard await Pause.sleep(for: Self.interval) else { return }
    }
  }
}
