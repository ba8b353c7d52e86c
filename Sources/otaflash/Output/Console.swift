import OtaflashUpdate
import Synchronization

/// The one place where a run writes: results to standard output, everything else to standard
/// error; with `--json`, nothing but JSON Lines to standard output. Whatever the text came from (a
/// device, a file, a command line), no control or bidirectional character of it reaches a terminal.
final class Console: Sendable {
  private struct State: Sendable {
    var json: JSONLines?
    var transcript: HumanTranscript
    /// The first errno of a write to standard output that failed.
    var failure: Int32?
  }

  let settings: OutputSettings
  private let device: String
  private let state: Mutex<State>
  private let start = ContinuousClock.now
  private let queue: OutputQueue

  init(
    settings: OutputSettings, command: String, device: String?, targetVersion: String? = nil,
    queue: OutputQueue
  ) {
    self.settings = settings
    self.queue = queue
    queue.enter()
    let name = device ?? ""
    self.device = name
    state = Mutex(
      State(
        json: settings.json ? JSONLines() : nil,
        transcript: HumanTranscript(
          device: name, targetVersion: targetVersion, progress: settings.progress,
          style: settings.errorStyle, airLimit: AirLimit.bytesPerSecond)))
    event(
      "hello",
      [
        "ts": .string(Timestamp.now()), "tool": "otaflash", "version": .string(Release.version),
        "command": .string(command),
      ])
  }

  /// The errno with which standard output failed, if it did.
  var outputFailure: Int32? { state.withLock { $0.failure } ?? queue.outputFailure }

  /// The version that `flash` is about to bring, for the headline.
  func announce(targetVersion: String?) {
    state.withLock { $0.transcript.announce(targetVersion: targetVersion) }
  }

  // MARK: What commands say

  /// A line of the result, for people.
  func result(_ line: String) { result(Line(line)) }

  func result(_ line: Line) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      writeOut(line.shown + "\n", &state)
    }
  }

  /// A text of the program's own, with its line breaks.
  func result(ownText text: String) {
    state.withLock { state in
      guard state.json == nil else { return }
      if !queue.carriesOutput { queue.show([]) }
      writeOut(text + "\n", &state)
    }
  }

  /// A part of the result, for programs.
  func event(_ type: String, _ members: KeyValuePairs<String, JSONValue?>) {
    event(type, JSONValue.fields(members))
  }

  func event(_ type: String, _ members: [JSONValue.Member]) {
    state.withLock { state in
      guard let line = state.json?.line(type, members) else { return }
      writeOut(line + "\n", &state)
    }
  }

  /// Whether a remark of this verbosity is written at all.
  func tells(atVerbosity verbosity: Int) -> Bool {
    !settings.quiet && !settings.json && settings.verbosity >= verbosity
  }

  /// A remark on standard error; silent with `-q` and `--json`.
  func note(_ line: String, verbosity: Int = 0) { note(Line(line), verbosity: verbosity) }

  func note(_ line: Line, verbosity: Int = 0) {
    guard tells(atVerbosity: verbosity) else { return }
    state.withLock { _ in perform([.line(line)]) }
  }

  /// A question, also with `-q` and `--json`: without it nobody could answer. The cursor stays
  /// behind it, unless `breaksLine`.
  func prompt(_ text: String, breaksLine: Bool = false) {
    state.withLock { _ in
      queue.addError(VisibleText.escaped(text) + (breaksLine ? "\n" : ""))
    }
  }

  /// One step of an update.
  func observe(_ update: UpdateEvent) {
    let now = ContinuousClock.now - start
    state.withLock { state in
      if let lines = state.json?.observe(update, of: device, at: now) {
        for line in lines { writeOut(line + "\n", &state) }
        return
      }
      let steps = state.transcript.observe(update, at: now)
      if !settings.quiet { perform(steps) }
    }
  }

  /// One step of one of several updates, for programs alone: a person sees the block of them all.
  func observe(_ update: UpdateEvent, of device: String) {
    let now = ContinuousClock.now - start
    state.withLock { state in
      for line in state.json?.observe(update, of: device, at: now) ?? [] {
        writeOut(line + "\n", &state)
      }
    }
  }

  /// Closes what is open of one of several updates.
  func end(updateOf device: String, ok: Bool) {
    let now = ContinuousClock.now - start
    state.withLock { state in
      for line in state.json?.end(device, ok: ok, at: now) ?? [] { writeOut(line + "\n", &state) }
    }
  }

  /// Shows lines in the place of those shown before; no wider and no more than the terminal has.
  func show(_ block: [Line]) { state.withLock { _ in perform([.block(block)]) } }

  /// Redraws what time alone changes.
  func tick() {
    let now = ContinuousClock.now - start
    state.withLock { perform($0.transcript.tick(at: now)) }
  }

  func fail(_ report: FaultReport) {
    closeTask(ok: false)
    event(
      "error",
      [
        "code": .string(report.code.rawValue), "message": .string(report.what),
        "why": .string(report.why), "help": .string(report.help),
        "retryable": .bool(report.retryable),
        "details": report.details.isEmpty ? nil : .array(report.details.map { .string($0) }),
        "places": report.passages.isEmpty ? nil : .array(report.passages.map(\.json)),
        "image_state": report.imageState.map { .string($0.rawValue) },
      ])
    guard !settings.json else { return }
    let style = settings.errorStyle
    let head: [Line] = [
      "\(style.red("error[\(report.code.rawValue)]")): \(report.what)"
    ]
    let rest: [Line] = ["  \(report.why)", "  help: \(report.help)"]
    let lines = head + report.excerpts.map { "\($0)" } + rest
    state.withLock { _ in
      for line in lines { queue.addError(line.shown + "\n") }
    }
  }

  /// The last word. Nothing may follow. Waits until all of it is written.
  func end(_ ending: Ending) {
    closeTask(ok: ending.exit == .done)
    event("result", ending.members)
    queue.show([])
    queue.leave()
    queue.drain()
  }

  /// Shows the cursor, and keeps it so. A dying process can call it at any time: it waits for no
  /// lock that is held during a write, and not for a terminal that accepts nothing.
  func restoreTerminal() { queue.leave() }

  /// The process goes on after it was stopped.
  func takeTerminalBack() { queue.takeBack() }

  // MARK: Writing

  private func closeTask(ok: Bool) {
    let now = ContinuousClock.now - start
    state.withLock { state in
      for line in state.json?.endAll(ok: ok, at: now) ?? [] { writeOut(line + "\n", &state) }
    }
  }

  private func perform(_ steps: [HumanTranscript.Step]) {
    for step in steps {
      switch step {
      case .line(let text): queue.addRemark(text.shown + "\n")
      case .transient(let text): queue.show(text.isEmpty ? [] : [text])
      case .block(let lines): queue.show(lines)
      }
    }
  }

  private func writeOut(_ text: String, _ state: inout State) {
    guard state.failure == nil else { return }
    if queue.carriesOutput {
      queue.addResult(text)
    } else {
      state.failure = FileOutput.standardOutput.write(text)
    }
  }
}

extension FilePassage {
  fileprivate var json: JSONValue {
    .object(
      JSONValue.fields([
        "file": .string(path), "line": .integer(line), "column": .integer(column),
        "message": .string(words),
      ]))
  }
}
