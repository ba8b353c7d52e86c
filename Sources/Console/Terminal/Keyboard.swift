import Glibc

/// The keys that the user presses while a command runs.
package struct Keyboard: Sendable {
  /// The length of a pause in the input: too short for a user to notice, and longer than the
  /// interval between the bytes of one key.
  private static let interval = Duration.milliseconds(30)

  private let terminal: RawTerminal

  /// Returns whether a user can see a question and answer it.
  package static func isAvailable(in session: some InteractiveSession) -> Bool {
    session.mayAsk && isatty(STDIN_FILENO) == 1
      && FileOutput.standardError.isTerminal && session.environment["TERM"] != "dumb"
      && (session.environment["CI"] ?? "").isEmpty
  }

  /// Runs `body` with the keys, then restores the terminal. Returns `nil` without a call of `body`
  /// if no keyboard is available.
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

  /// Passes typed bytes to `take` until `take` ends the input or the task is cancelled.
  package func watchBytes(_ take: ([UInt8]) -> Bool) async {
    while !Task.isCancelled {
      // The end of the input has the effect of Ctrl-D.
      guard let bytes = terminal.read() else {
        _ = take([0x04])
        return
      }
      if !bytes.isEmpty, take(bytes) { return }
      guard await Pause.sleep(for: Self.interval) else { return }
    }
  }

  /// Passes each key to `take` until `take` ends the input or the task is cancelled.
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
