import Synchronization

/// Writes all output of a run. Results are written to standard output, everything else to standard
/// error; with `--json`, only JSON Lines are written to standard output. Control characters and
/// characters that change the direction of text are escaped in external text (from a device, a file
/// or the command line), so they never reach a terminal.
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

  /// The errno of the first write to standard output that failed; `nil` if no write failed.
  package var outputFailure: Int32? { state.withLock { $0.failure } ?? queue.outputFailure }

  // MARK: Output of commands

  /// Prints a line of the result as text.
  package func result(_ line: String) { result(Line(line)) }

  /// Prints a line of the result, wrapped at the width of the terminal if there is one.
  package func result(_ line: Line) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      for line in wrapped(line, to: settings.outputColumns, hanging: true) {
        writeOut(line.shown + "\n", &state)
      }
    }
  }

  /// Prints a fixed text of the program with its line breaks.
  package func result(ownText text: String) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      writeOut(text + "\n", &state)
    }
  }

  /// Writes a part of the result as a JSON event.
  package func event(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) {
    event(type, JSONValue.fields(members))
  }

  package func event(_ type: String, _ members: [JSONValue.Member]) {
    state.withLock { state in
      guard let line = state.json?.line(type, members) else { return }
      writeOut(line + "\n", &state)
    }
  }

  /// Returns whether remarks of this verbosity are written.
  package func prints(atVerbosity verbosity: Int) -> Bool {
    !settings.quiet && !settings.json && settings.verbosity >= verbosity
  }

  /// Prints a remark to standard error; prints nothing with `-q` or `--json`.
  package func note(_ line: String, verbosity: Int = 0) { note(Line(line), verbosity: verbosity) }

  package func note(_ line: Line, verbosity: Int = 0) {
    guard prints(atVerbosity: verbosity) else { return }
    state.withLock { _ in
      for line in wrapped(line, to: settings.errorColumns) { queue.addRemark(line.shown + "\n") }
    }
  }

  /// Prints a question, even with `-q` and `--json`, so that the user can answer it. The cursor
  /// stays after the question, unless `breaksLine`.
  package func prompt(_ text: String, breaksLine: Bool = false) {
    state.withLock { _ in
      queue.addError(VisibleText.escaped(text) + (breaksLine ? "\n" : ""))
    }
  }

  /// Replaces the shown lines with new lines, which must fit the terminal.
  package func show(_ block: [Line]) { state.withLock { _ in queue.show(block) } }

  /// Prints the lines of an error, even with `-q`. Prints nothing with `--json`, because an event
  /// reports the error.
  package func error(_ lines: [Line]) {
    guard !settings.json else { return }
    state.withLock { _ in
      for line in lines.flatMap({ wrapped($0, to: settings.errorColumns) }) {
        queue.addError(line.shown + "\n")
      }
    }
  }

  /// Wraps a sentence at the width of the terminal. A command stays on one line, so that it can be
  /// copied.
  private func wrapped(_ line: Line, to columns: Int?, hanging: Bool = false) -> [Line] {
    guard let columns, !line.containsCommand else { return [line] }
    return line.wrapped(to: columns, hanging: hanging)
  }

  /// Prints rows with aligned columns, within the width of the terminal if there is one.
  ///
  /// - Parameter kept: the titles that identify a row.
  package func table(_ titles: [String], _ rows: [[String]], keeping kept: Set<String>) {
    let table = TextTable(titles: titles, rows: rows, kept: kept)
    for line in table.lines(within: settings.outputColumns) { result(line) }
  }

  /// Ends the output, and waits until all of it is written.
  package func finish() {
    queue.show([])
    queue.leave()
    queue.drain()
  }

  /// Shows the cursor permanently. A process that ends can call this function at any time: the wait
  /// for pending output has a limit, and is short for a terminal that accepts no output.
  package func restoreTerminal() { queue.leave() }

  /// Permits frames again after the process was stopped and continued.
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
