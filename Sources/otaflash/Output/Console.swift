import Glibc
import OtaflashUpdate
import Synchronization

/// The one place where a run writes: results to standard output, everything else to standard
/// error; with `--json`, nothing but JSON Lines to standard output. Whatever the text came from (a
/// device, a file, a command line), no control or bidirectional character of it reaches a terminal.
final class Console: Sendable {
  private struct State: Sendable {
    var json: JSONLines?
    var transcript: HumanTranscript
    /// The widths of the lines that the next step replaces, the cursor behind the last.
    var transientWidths: [Int] = []
    /// The first errno of a write to standard output that failed.
    var failure: Int32?
  }

  let settings: OutputSettings
  private let device: String
  private let state: Mutex<State>
  private let start = ContinuousClock.now
  private let cursor = Atomic(Cursor.shown)
  /// Others wrote below what was drawn, which therefore stays.
  private let isForgotten = Atomic(false)

  private enum Cursor: UInt8, AtomicRepresentable {
    case shown, hidden
    /// The process dies or stops: nothing is drawn over that would hide it again.
    case keptShown
  }

  init(settings: OutputSettings, command: String, device: String?, targetVersion: String? = nil) {
    self.settings = settings
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
  var outputFailure: Int32? { state.withLock { $0.failure } }

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
      eraseTransientLine(&state)
      writeOut(line.shown + "\n", &state)
    }
  }

  /// A text of the program's own, with its line breaks.
  func result(ownText text: String) {
    state.withLock { state in
      guard state.json == nil else { return }
      eraseTransientLine(&state)
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
    state.withLock { perform([.line(line)], &$0) }
  }

  /// A question, also with `-q` and `--json`: without it nobody could answer. The cursor stays
  /// behind it, unless `breaksLine`.
  func prompt(_ text: String, breaksLine: Bool = false) {
    state.withLock { state in
      eraseTransientLine(&state)
      writeError(VisibleText.escaped(text) + (breaksLine ? "\n" : ""))
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
      if !settings.quiet { perform(steps, &state) }
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
  func show(_ block: [Line]) { state.withLock { perform([.block(block)], &$0) } }

  /// Redraws what time alone changes.
  func tick() {
    let now = ContinuousClock.now - start
    state.withLock { perform($0.transcript.tick(at: now), &$0) }
  }

  func fail(_ report: FaultReport) {
    closeTask(ok: false)
    event(
      "error",
      [
        "code": .string(report.code.rawValue), "message": .string(report.what),
        "why": .string(report.why), "help": .string(report.help),
        "retryable": .bool(report.retryable),
      ])
    guard !settings.json else { return }
    let style = settings.errorStyle
    let lines: [Line] = [
      "\(style.red("error[\(report.code.rawValue)]")): \(report.what)", "  \(report.why)",
      "  help: \(report.help)",
    ]
    state.withLock { perform(lines.map { .line($0) }, &$0) }
  }

  /// The last word. Nothing may follow.
  func end(_ ending: Ending) {
    closeTask(ok: ending.exit == .done)
    event("result", ending.members)
    state.withLock { eraseTransientLine(&$0) }
    restoreTerminal()
  }

  /// Shows the cursor, and keeps it so. Takes no lock, so that a dying process can call it at any
  /// time.
  func restoreTerminal() {
    guard cursor.exchange(.keptShown, ordering: .relaxed) == .hidden else { return }
    _ = FileOutput.standardError.write("\u{1B}[?25h")
  }

  /// The process goes on after it was stopped.
  func takeTerminalBack() {
    isForgotten.store(true, ordering: .relaxed)
    cursor.store(.shown, ordering: .relaxed)
  }

  // MARK: Writing

  private func closeTask(ok: Bool) {
    let now = ContinuousClock.now - start
    state.withLock { state in
      for line in state.json?.endAll(ok: ok, at: now) ?? [] { writeOut(line + "\n", &state) }
    }
  }

  private func perform(_ steps: [HumanTranscript.Step], _ state: inout State) {
    for step in steps {
      switch step {
      case .line(let text):
        eraseTransientLine(&state)
        writeError(text.shown + "\n")
      case .transient(let text): draw(text.isEmpty ? [] : [text], &state)
      case .block(let lines): draw(lines, &state)
      }
    }
  }

  /// Over what was drawn before, in one write, so that nothing flickers.
  private func draw(_ lines: [Line], _ state: inout State) {
    if isForgotten.exchange(false, ordering: .relaxed) { state.transientWidths = [] }
    guard !lines.isEmpty || !state.transientWidths.isEmpty else { return }
    let hiding = cursor.compareExchange(expected: .shown, desired: .hidden, ordering: .relaxed)
    if hiding.exchanged { writeError("\u{1B}[?25l") }
    guard hiding.original != .keptShown else { return }
    let rows = lines.map { $0.shown + "\u{1B}[K" }.joined(separator: "\n")
    writeError(Self.home(of: state.transientWidths) + rows + "\u{1B}[J")
    state.transientWidths = lines.map(\.columns)
  }

  private func eraseTransientLine(_ state: inout State) {
    if isForgotten.exchange(false, ordering: .relaxed) { state.transientWidths = [] }
    guard !state.transientWidths.isEmpty else { return }
    writeError(Self.home(of: state.transientWidths) + "\u{1B}[J")
    state.transientWidths = []
  }

  /// From the end of lines of such widths to the beginning of the first. A terminal that has become
  /// narrower since has broken them.
  private static func home(of widths: [Int]) -> String {
    let columns = FileOutput.standardError.columns
    let rows = widths.reduce(0) { $0 + max(($1 + columns - 1) / columns, 1) }
    return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
  }

  private func writeOut(_ text: String, _ state: inout State) {
    guard state.failure == nil else { return }
    state.failure = FileOutput.standardOutput.write(text)
  }

  /// Nobody can be told when standard error fails; the exit status still tells the outcome.
  private func writeError(_ text: String) { _ = FileOutput.standardError.write(text) }
}
