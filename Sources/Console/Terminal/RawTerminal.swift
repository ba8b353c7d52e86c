import Glibc
import Synchronization

/// Standard input as a keyboard: keys arrive immediately and are not echoed. The terminal is
/// restored at the end, even if a signal (except SIGKILL) or a fault ends this process.
package final class RawTerminal: Sendable {
  /// Signals with which the kernel ends a process because of a fault in the process.
  private static let faults = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
  /// The original terminal settings, for the handler of a fault, which may use only system calls.
  /// The memory is allocated once and never freed, because a fault may occur late.
  private static let place = Atomic(
    UInt(bitPattern: UnsafeMutablePointer<termios>.allocate(capacity: 1)))
  private static var former: UnsafeMutablePointer<termios>? {
    UnsafeMutablePointer(bitPattern: place.load(ordering: .relaxed))
  }

  /// - Returns: `nil` if standard input is not a terminal.
  package init?() {
    guard let former = Self.former, tcgetattr(STDIN_FILENO, former) == 0 else { return nil }
    for number in Self.faults { Self.putBack(before: number) }
    enter()
  }

  /// Switches the terminal to raw mode; may be called repeatedly. Signals of the keyboard remain
  /// enabled.
  package func enter() {
    guard Self.isOurs, var raw = Self.former?.pointee else { return }
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
  }

  /// Restores the terminal. The function uses no lock, so that a process that ends can call it at
  /// any time.
  package func leave() { Self.putBack() }

  /// Restores the settings immediately, because pending output may wait for a stopped terminal.
  private static func putBack() {
    if isOurs, let former { tcsetattr(STDIN_FILENO, TCSANOW, former) }
  }

  /// Whether this process is in the foreground. A process in the background does not restore the
  /// terminal, because the shell has already changed the settings.
  private static var isOurs: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Restores the terminal before a fault ends the process; existing handlers are kept.
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

  /// Returns the typed bytes; `nil` at the end of the input. Never waits.
  package func read() -> [UInt8]? {
    var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 0) > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    if count < 0 { return errno == EINTR || errno == EAGAIN ? [] : nil }
    return count == 0 ? nil : Array(bytes.prefix(count))
  }
}
