import Glibc
import Synchronization

/// Standard input as a keyboard: each key at once, and none of them shown. The terminal is put back
/// when that ends, also by a signal or a fault of this process; SIGKILL alone leaves it as it is.
package final class RawTerminal: Sendable {
  /// Signals by which the kernel ends a process for a fault of its own.
  private static let faults = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
  /// Where it lies how the terminal was, for the handler of a fault, which may do no more than a
  /// system call. One place for the whole process, and never given back: a fault may come late.
  private static let place = Atomic(
    UInt(bitPattern: UnsafeMutablePointer<termios>.allocate(capacity: 1)))
  private static var former: UnsafeMutablePointer<termios>? {
    UnsafeMutablePointer(bitPattern: place.load(ordering: .relaxed))
  }

  /// - Returns: `nil` where standard input is no terminal.
  package init?() {
    guard let former = Self.former, tcgetattr(STDIN_FILENO, former) == 0 else { return nil }
    for number in Self.faults { Self.putBack(before: number) }
    enter()
  }

  /// Takes the terminal (again). Signals of the keyboard stay signals.
  package func enter() {
    guard Self.isOurs, var raw = Self.former?.pointee else { return }
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
  }

  /// Puts the terminal back. Takes no lock, so that a dying process can call it at any time.
  package func leave() { Self.putBack() }

  /// At once: what was written may wait for a terminal that is halted.
  private static func putBack() {
    if isOurs, let former { tcsetattr(STDIN_FILENO, TCSANOW, former) }
  }

  /// Whoever works in the background leaves the terminal to the shell, which has set it by then.
  private static var isOurs: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Has `leave` done before the process dies by a fault; a handler of somebody else's stays.
  private static func putBack(before number: Int32) {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0,
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    else { return }
    signal(number) { number in
      RawTerminal.putBack()
      signal(number, SIG_DFL)
      raise(number)
    }
  }

  /// What was typed; `nil` at the end of the input. Never waits.
  package func read() -> [UInt8]? {
    var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 0) > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
    return count == 0 ? nil : Array(bytes.prefix(count))
  }
}
