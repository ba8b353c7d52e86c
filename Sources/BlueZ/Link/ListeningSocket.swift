import COtaflashBluetooth
import Glibc
import OtaflashATT
import Synchronization

/// A non-blocking listening socket on the event loop.
final class ListeningSocket: Sendable {
  private let watch: Watch
  private let descriptor: Mutex<FileDescriptor?>

  init(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    watch = try EventLoop.shared.add(descriptor)
    self.descriptor = Mutex(descriptor)
  }

  deinit { _ = close() }

  /// Returns the next connection.
  ///
  /// - Throws: `ECANCELED` if the task is cancelled, `EBADF` if the listener is closed.
  func accept() async throws(SystemError) -> FileDescriptor {
    while true {
      if let connection = try acceptNow() { return connection }
      switch await EventLoop.shared.wait(for: .readable, on: watch, until: nil) {
      case .ready: continue
      case .cancelled: throw SystemError(ECANCELED)
      case .closed, .timedOut: throw SystemError(EBADF)
      }
    }
  }

  /// Closes the socket; returns `false` if the socket was already closed.
  func close() -> Bool {
    guard let descriptor = descriptor.withLock({ $0.take() }) else { return false }
    EventLoop.shared.remove(watch)
    _ = consume descriptor
    return true
  }

  private func acceptNow() throws(SystemError) -> FileDescriptor? {
    let result = descriptor.withLock { descriptor -> Result<Int32, SystemError> in
      guard let raw = descriptor?.raw else { return .failure(SystemError(EBADF)) }
      let connection = otaflash_accept(raw)
      return connection >= 0 ? .success(connection) : .failure(SystemError(errno))
    }
    switch result {
    case .success(let raw): return FileDescriptor(owning: raw)
    // No connection waits, a signal interrupted the call, or the connection ended before it was
    // accepted.
    case .failure(let error) where [EAGAIN, EINTR, ECONNABORTED].contains(error.number): return nil
    case .failure(let error): throw error
    }
  }
}
