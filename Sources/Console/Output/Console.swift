import Synchronization

/// The one place where a run writes: results to standard output, everything else to standard
/// error; with `--json`, nothing but JSON Lines to standard output. Whatever the text came from (a
/// device, a file, a command line), no control or bidirectional character of it reaches a terminal.
package final class Console: Sendable {
  private struct State: Sendable {
    var json: JSONLines?
    /// The first errno of a write to standard output that failed.
    var failure: Int32?
  }

  package let settings: OutputSettings
  private let state: Mutex<State>
  private let queue: OutputQueue

  package init(settings: OutputSettings, command: String, queue: OutputQueue) {
    self.settings = settings
    self.queue = queue
    queue.enter()
    state = Mutex(State(json: settings.json ? JSONLines() : nil))
    event(
      "hello",
      [
        "ts": .string(Timestamp.now()), "tool": "otaflash", "version": .string(Release.version),
        "command": .string(command),
      ])
  }

  /// The errno with which standard output failed, if it did.
  package var outputFailure: Int32? { state.withLock { $0.failure } ?? queue.outputFailure }

  // MARK: What commands say

  /// A line of the result, for people.
  package func result(_ line: String) { result(Line(line)) }

  package func result(_ line: Line) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      writeOut(line.shown + "\n", &state)
    }
  }

  /// A text of the program's own, with its line breaks.
  package func result(ownText text: String) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      writeOut(text + "\n", &state)
    }
  }

  /// A part of the result, for programs.
  package func event(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) {
    event(type, JSONValue.fields(members))
  }

  package func event(_ type: String, _ members: [JSONValue.Member]) {
    state.withLock { state in
      guard let line = state.json?.line(type, members) else { return }
      writeOut(line + "\n", &state)
    }
  }

  /// Whether a remark of this verbosity is written at all.
  package func tells(atVerbosity verbosity: Int) -> Bool {
    !settings.quiet && !settings.json && settings.verbosity >= verbosity
  }

  /// A remark on standard error; silent with `-q` and `--json`.
  package func note(_ line: String, verbosity: Int = 0) { note(Line(line), verbosity: verbosity) }

  package func note(_ line: Line, verbosity: Int = 0) {
    guard tells(atVerbosity: verbosity) else { return }
    state.withLock { _ in queue.addRemark(line.shown + "\n") }
  }

  /// A question, also with `-q` and `--json`: without it nobody could answer. The cursor stays
  /// behind it, unless `breaksLine`.
  package func prompt(_ text: String, breaksLine: Bool = false) {
    state.withLock { _ in
      queue.addError(VisibleText.escaped(text) + (breaksLine ? "\n" : ""))
    }
  }

  /// Shows lines in the place of those shown before; no wider and no more than the terminal has.
  package func show(_ block: [Line]) { state.withLock { _ in queue.show(block) } }

  /// The lines of an error, also with `-q`; not with `--json`, which has events of it.
  package func error(_ lines: [Line]) {
    guard !settings.json else { return }
    state.withLock { _ in
      for line in lines { queue.addError(line.shown + "\n") }
    }
  }

  /// Nothing may follow. Waits until all of it is written.
  package func finish() {
    queue.show([])
    queue.leave()
    queue.drain()
  }

  /// Shows the cursor, and keeps it so. A dying process can call it at any time: it waits for no
  /// lock that is held during a write, and not for a terminal that accepts nothing.
  package func restoreTerminal() { queue.leave() }

  /// The process goes on after it was stopped.
  package func takeTerminalBack() { queue.takeBack() }

  // MARK: Writing

  private func writeOut(_ text: String, _ state: inout State) {
    guard state.failure == nil else { return }
    if queue.carriesOutput {
      queue.addResult(text)
    } else {
      state.failure = FileOutput.standardOutput.write(text)
    }
  }
}
