import Glibc
import Synchronization

/// Text for standard error, in the order of the calls. If standard output is a terminal or the same
/// file as standard error, the queue also contains the text for standard output. The main thread
/// writes the queue, so that a terminal that accepts no output (a lost connection, Ctrl-S) blocks
/// neither the event loop nor signals. Only the newest frame is queued, the number of remarks is
/// limited, and results and errors are never dropped.
package final class OutputQueue: Sendable {
  private enum Piece {
    case text(String, FileOutput)
    case frame([Line])
    case showCursor
    /// A frame that was replaced by a newer frame.
    case nothing
  }

  private struct State {
    var isServed = false
    var pieces: [Piece] = []
    /// The index of the first pending piece.
    var next = 0
    /// The index of the pending frame; `nil` if no frame is pending.
    var frame: Int?
    var waitingBytes = 0
    var remarksLeftOut = 0
    var isWriting = false
    /// Whether the cursor stays visible, because the command has ended, or the process ends or
    /// stops.
    var isLeft = false
    var renderer = FrameRenderer()
    var outputFailure: Int32?
  }

  /// The number of pending bytes above which remarks are dropped and counted, and results wait for
  /// space.
  private static let waitingBytesMaximum = 1 << 20
  /// The number of written pieces above which they are removed.
  private static let writtenPiecesMaximum = 1024
  /// The time limits of the output when the process ends or stops: in total, and without progress
  /// on a terminal that accepts no output.
  private static let leavePatience = (whole: Duration.seconds(1), full: Duration.milliseconds(100))

  private let state = Mutex(State())
  /// A `sem_t` that lives as long as the process.
  private let wakeAddress: UInt
  /// Counts one step for each written piece.
  private let progress = WriteProgress()
  private let output = FileOutput.standardOutput
  private let error = FileOutput.standardError
  /// Whether the queue writes standard output. Otherwise the caller writes standard output
  /// directly, with back-pressure.
  package let carriesOutput: Bool

  package init() {
    let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(wake, 0, 0)
    wakeAddress = UInt(bitPattern: wake)
    carriesOutput = output.isTerminal || output.isSameFile(as: error)
  }

  /// The errno of the first write to standard output that failed; `nil` if no write failed.
  package var outputFailure: Int32? { state.withLock { $0.outputFailure } }

  // MARK: Adding

  /// Adds a line, which is dropped if a megabyte is already pending.
  package func addRemark(_ text: String) {
    state.withLock { state in
      guard state.waitingBytes + text.utf8.count <= Self.waitingBytesMaximum else {
        state.remarksLeftOut += 1
        return
      }
      add(.text(text, error), to: &state)
    }
  }

  /// Adds text that is never dropped.
  package func addError(_ text: String) { state.withLock { add(.text(text, error), to: &$0) } }

  /// Adds text for standard output. Waits while too much text is pending.
  package func addResult(_ text: String) {
    while true {
      let seen = progress.count
      let isFull = state.withLock {
        $0.isServed && $0.waitingBytes > Self.waitingBytesMaximum
      }
      guard isFull else { break }
      _ = progress.wait(after: seen)
    }
    state.withLock { add(.text(text, output), to: &$0) }
  }

  /// Sets the lines that replace the previous frame; no lines erase it.
  package func show(_ lines: [Line]) {
    state.withLock { state in
      guard !state.isLeft else { return }
      if let frame = state.frame { state.pieces[frame] = .nothing }
      if state.isServed { state.frame = state.pieces.count }
      add(.frame(lines), to: &state)
    }
  }

  // MARK: The terminal

  /// Permits frames again, because another command uses the terminal.
  package func enter() { state.withLock { $0.isLeft = false } }

  /// Permits frames again after the process was stopped and continued. The next frame does not
  /// replace the previous frame.
  package func takeBack() {
    state.withLock { state in
      state.renderer.forget()
      state.isLeft = false
    }
  }

  /// Shows the cursor, and draws nothing more. A process that ends can call this function at any
  /// time: the wait has a limit, and is short for a terminal that accepts no output.
  package func leave() {
    state.withLock { state in
      guard !state.isLeft else { return }
      state.isLeft = true
      add(.showCursor, to: &state)
    }
    let end = ContinuousClock.now + Self.leavePatience.whole
    while true {
      let seen = progress.count
      let left = end - .now
      guard !isIdle, left > .zero else { return }
      let isProgress = progress.wait(after: seen, within: min(left, Self.leavePatience.full))
      guard isProgress || error.isWritable else { return }
    }
  }

  /// Waits without a limit until everything is written. Signals still end the process.
  package func drain() {
    while true {
      let seen = progress.count
      guard !isIdle else { return }
      _ = progress.wait(after: seen)
    }
  }

  private var isIdle: Bool {
    state.withLock { !$0.isServed || !$0.isWriting && $0.next == $0.pieces.count }
  }

  // MARK: Writing

  /// Writes the queue on the calling thread, and never returns. Before this call, each caller
  /// writes its text directly.
  package func serve() -> Never {
    state.withLock { $0.isServed = true }
    while true {
      while let texts = takeNext() {
        progress.advance()
        for (text, file) in texts { record(file.write(text), of: file) }
      }
      progress.advance()
      if let wake = UnsafeMutablePointer<sem_t>(bitPattern: wakeAddress) { sem_wait(wake) }
    }
  }

  private func add(_ piece: Piece, to state: inout State) {
    guard state.isServed else {
      for (text, file) in texts(of: piece, &state) {
        let failure = file.write(text)
        if file.descriptor == output.descriptor { state.outputFailure = failure }
      }
      return
    }
    if case .text(let text, _) = piece { state.waitingBytes += text.utf8.count }
    state.pieces.append(piece)
    if let wake = UnsafeMutablePointer<sem_t>(bitPattern: wakeAddress) { sem_post(wake) }
  }

  /// Returns the texts of the next piece; `nil` if the queue is empty.
  private func takeNext() -> [(String, FileOutput)]? {
    state.withLock { state in
      while state.next < state.pieces.count {
        let piece = state.pieces[state.next]
        if state.frame == state.next { state.frame = nil }
        if case .text(let text, _) = piece { state.waitingBytes -= text.utf8.count }
        state.next += 1
        removeWritten(from: &state)
        let texts = texts(of: piece, &state)
        guard !texts.isEmpty else { continue }
        state.isWriting = true
        return texts
      }
      guard state.remarksLeftOut == 0 else {
        let remark =
          "(\(Text.counted(state.remarksLeftOut, "line")) dropped: the terminal was blocked)\n"
        state.remarksLeftOut = 0
        state.isWriting = true
        return texts(of: .text(remark, error), &state)
      }
      state.isWriting = false
      return nil
    }
  }

  private func removeWritten(from state: inout State) {
    guard state.next == state.pieces.count || state.next > Self.writtenPiecesMaximum else { return }
    state.pieces.removeFirst(state.next)
    state.frame = state.frame.map { $0 - state.next }
    state.next = 0
  }

  private func texts(of piece: Piece, _ state: inout State) -> [(String, FileOutput)] {
    switch piece {
    case .text(let text, let file):
      let erased = state.renderer.erase(columns: error.columns)
      if file.descriptor == error.descriptor { return [(erased + text, error)] }
      let result = state.outputFailure == nil ? [(text, file)] : []
      return (erased.isEmpty ? [] : [(erased, error)]) + result
    case .frame(let lines):
      let text = state.renderer.draw(lines, columns: error.columns)
      return text.isEmpty ? [] : [(text, error)]
    case .showCursor:
      let text = state.renderer.showCursor()
      return text.isEmpty ? [] : [(text, error)]
    case .nothing: return []
    }
  }

  /// Records the first failed write to standard output. A failed write to standard error cannot be
  /// reported; the exit status still shows the outcome.
  private func record(_ failure: Int32?, of file: FileOutput) {
    guard let failure, file.descriptor == output.descriptor else { return }
    state.withLock { $0.outputFailure = $0.outputFailure ?? failure }
  }
}
