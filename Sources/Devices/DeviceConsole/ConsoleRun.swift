import Glibc
import OtaflashConsole
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// The console of a device on this host: its display, its log, and the lines of the user.
package struct ConsoleRun: Sendable {
  private enum Part: Sendable {
    case console(Result<Void, CommandFault>)
    /// The input has ended; `isOver` if the user left.
    case input(isOver: Bool)
  }

  private static let linesMaximum = 256
  private static let pollInterval = Duration.milliseconds(50)

  private let channel: ConsoleChannel
  private let log: ConsoleLog?
  private let session: Session
  private let editor = ConsoleEditor()

  package init(_ options: ConsoleOptions, in session: Session) throws(CommandFault) {
    channel = options.consoleChannel
    log = try options.log.map { path throws(CommandFault) in try ConsoleLog(path, in: session) }
    self.session = session
  }

  /// Shows the console until the task is cancelled or the user leaves. The device must be served
  /// (`ResolvedDevice.withDevice`).
  package func run(on destination: ResolvedDevice) async throws(CommandFault) {
    let lock = try destination.lock()
    let lines = Mailbox<String>(capacity: Self.linesMaximum)
    let result = await withTaskGroup(of: Part.self, returning: Result<Void, CommandFault>.self) {
      group in
      group.addTask { .console(await connect(to: destination, lines)) }
      group.addTask { .input(isOver: await readLines(into: lines)) }
      defer { group.cancelAll() }
      for await part in group {
        switch part {
        case .console(let result): return result
        case .input(isOver: true): return .success(())
        case .input(isOver: false): break
        }
      }
      return .success(())
    }
    lock.release()
    session.console.show([])
    try result.get()
  }

  private func connect(
    to destination: ResolvedDevice, _ lines: Mailbox<String>
  ) async -> Result<Void, CommandFault> {
    let console = DeviceConsole(channel, clock: destination.clock) { show($0) }
    do throws(DeviceConsole.Fault) {
      return .success(try await console.run(on: destination.dialer, sending: lines))
    } catch {
      return .failure(CommandFault(error))
    }
  }

  // MARK: Output

  private func show(_ event: ConsoleEvent) {
    let (time, full) = (Timestamp.timeOfDay(), Timestamp.now())
    let console = session.console
    let style = console.settings.outputStyle
    if event.isOutput {
      console.result(style.dim(time) + "  " + event.line)
    } else {
      console.note(console.settings.errorStyle.dim(time) + "  " + event.line)
    }
    console.event("console", event.members(at: full))
    log?.append(event, at: full)
    draw()
  }

  private func draw() {
    guard let line = editor.line(in: session.console.settings.errorStyle) else { return }
    session.console.show([line])
  }

  // MARK: Input

  /// Returns whether the user left.
  private func readLines(into lines: Mailbox<String>) async -> Bool {
    if Keyboard.isAvailable(in: session) {
      return await Keyboard.use(in: session) { keyboard in await edit(keyboard, lines) } ?? false
    }
    guard isatty(STDIN_FILENO) == 0 else { return false }
    await pipe(into: lines)
    return false
  }

  private func edit(_ keyboard: Keyboard, _ lines: Mailbox<String>) async -> Bool {
    editor.start()
    defer { editor.stop() }
    draw()
    var hasLeft = false
    await keyboard.watchBytes { bytes in
      for input in editor.take(bytes) {
        switch input {
        case .line(let line): if !line.isEmpty { lines.offer(line) }
        case .end: hasLeft = true
        }
      }
      draw()
      return hasLeft
    }
    return hasLeft
  }

  /// Reads standard input without blocking a thread.
  private func pipe(into lines: Mailbox<String>) async {
    var assembler = LineAssembler()
    var bytes = [UInt8](repeating: 0, count: LineAssembler.maximum)
    while !Task.isCancelled {
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else {
        guard await Pause.sleep(for: Self.pollInterval) else { return }
        continue
      }
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else { break }
      for line in assembler.take(bytes[..<count]) { lines.offer(line) }
    }
    if let line = assembler.flush() { lines.offer(line) }
    lines.finish()
  }
}

/// The line editor, shared by the display and the keyboard.
private final class ConsoleEditor: Sendable {
  private let state = Mutex<LineEditor?>(nil)

  func start() { state.withLock { $0 = LineEditor() } }
  func stop() { state.withLock { $0 = nil } }
  func take(_ bytes: [UInt8]) -> [LineEditor.Input] { state.withLock { $0?.take(bytes) ?? [] } }
  /// `nil` = the user cannot type.
  func line(in style: Style) -> Line? { state.withLock { $0?.shown(in: style) } }
}

extension CommandFault {
  fileprivate init(_ fault: DeviceConsole.Fault) {
    self =
      switch fault {
      case .absent(let absence): .noConsole(absence)
      case .shell(let fault): .update(fault)
      case .link(.connect(let fault)): .connect(fault)
      case .link(.gatt(let fault)): .update(.gatt(.connect, fault))
      case .link(.queue): .stopped
      }
  }
}
