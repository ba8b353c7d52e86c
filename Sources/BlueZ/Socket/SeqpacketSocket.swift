import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT
import Synchronization

/// A connected socket that preserves message boundaries, for L2CAP links, Unix links and the
/// kernel's management interface.
///
/// The lock is held during the system calls, which never block. Therefore, the descriptor cannot be
/// closed and its number cannot be reused while another task is in `send` or `recv`.
final class SeqpacketSocket: Sendable {
  /// The maximum number of consecutive waits that end with "try again"; after these waits, the
  /// socket is considered broken. Otherwise a send buffer that is smaller than the fragments of one
  /// PDU would cause an endless loop.
  static let fruitlessWaitMaximum = 64

  private struct State: ~Copyable {
    var descriptor: FileDescriptor?
    /// The reason why the socket can no longer be used, which may be known while queued messages
    /// are still unread.
    var foundLoss: LinkLoss?
    /// The loss that `receive` has thrown, or `.closedLocally` after `close`; all later calls throw
    /// this loss.
    var finalLoss: LinkLoss?
  }

  /// The longest message in either direction, in bytes.
  let maximumSize: Int
  private let watch: Watch
  private let state: Mutex<State>

  init(_ descriptor: consuming FileDescriptor, maximumSize: Int) throws(SystemError) {
    watch = try EventLoop.shared.add(descriptor)
    self.maximumSize = maximumSize
    state = Mutex(State(descriptor: descriptor))
  }

  deinit { close() }

  /// Closes the socket; every wait ends with `.closedLocally`. May be called twice and from any
  /// thread.
  func close() {
    let descriptor = state.withLock { state -> FileDescriptor? in
      state.finalLoss = .closedLocally
      return state.descriptor.take()
    }
    guard let descriptor else { return }
    EventLoop.shared.remove(watch)
    // The peer detects the end now, even if a child process still has a copy of the descriptor.
    _ = shutdown(descriptor.raw, Int32(SHUT_RDWR))
  }

  // MARK: - Sending

  /// Sends one message; suspends only while the kernel's send buffer is full.
  func send(_ message: [UInt8], until deadline: LinkInstant? = nil) async throws(LinkLoss) {
    for _ in 0..<Self.fruitlessWaitMaximum {
      if try offer(message) { return }
      try await wait(for: .writable, until: deadline)
    }
    throw .failed(
      errno: EAGAIN,
      reason: "The send buffer is too small for a PDU of \(message.count) bytes; raise SO_SNDBUF.")
  }

  /// Attempts to send without waiting; returns `false` if the send buffer is full.
  func offer(_ message: [UInt8]) throws(LinkLoss) -> Bool {
    guard message.count <= maximumSize else {
      throw .tooLarge(bytes: message.count, limit: maximumSize)
    }
    return try state.withLock { state throws(LinkLoss) in
      if let loss = state.finalLoss ?? state.foundLoss { throw loss }
      guard let raw = state.descriptor?.raw else { throw .closedLocally }
      while true {
        if Glibc.send(raw, message, message.count, Int32(MSG_NOSIGNAL)) >= 0 { return true }
        switch errno {
        case EINTR: continue
        case EAGAIN: return false
        case EMSGSIZE: throw .tooLarge(bytes: message.count, limit: maximumSize)
        case let number:
          let loss = LinkLoss(socketError: number)
          state.foundLoss = loss
          throw loss
        }
      }
    }
  }

  // MARK: - Receiving

  private enum Reception {
    case message([UInt8])
    case nothingYet
    /// An error was read from the socket, but messages may still be queued.
    case errorTaken
  }

  /// Returns the next message. Messages that arrived before the end of the socket are delivered
  /// before the loss is thrown.
  func receive(until deadline: LinkInstant? = nil) async throws(LinkLoss) -> [UInt8] {
    var isHungUp = false
    while true {
      switch try receiveNow(isHungUp: isHungUp) {
      case .message(let message): return message
      case .errorTaken: isHungUp = true
      case .nothingYet: isHungUp = try await wait(for: .readable, until: deadline)
      }
    }
  }

  /// - Parameter isHungUp: whether the kernel has reported the end, so that an empty queue means
  ///   the end of the stream. A socket that failed returns EAGAIN indefinitely after its error was
  ///   read.
  private func receiveNow(isHungUp: Bool) throws(LinkLoss) -> Reception {
    try state.withLock { state throws(LinkLoss) in
      if let loss = state.finalLoss { throw loss }
      guard let raw = state.descriptor?.raw else { throw .closedLocally }
      let (count, number, message) = Self.receive(from: raw, limit: maximumSize)
      if count > maximumSize { throw Self.oversized(count, limit: maximumSize) }
      if count > 0 { return .message(message) }
      // Zero bytes mean the end of the stream, or an empty message.
      if count == 0, otaflash_has_hung_up(raw) == 0 { return .message([]) }
      switch number {
      case EINTR: return .nothingYet
      case EAGAIN where !isHungUp && state.foundLoss == nil: return .nothingYet
      case 0, EAGAIN:
        let loss = state.foundLoss ?? Self.pendingError(of: raw)
        state.finalLoss = loss
        throw loss
      default:
        if state.foundLoss == nil { state.foundLoss = LinkLoss(socketError: number) }
        return .errorTaken
      }
    }
  }

  private static func receive(from raw: Int32, limit: Int) -> (Int, Int32, [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
      let count = recv(raw, buffer.baseAddress, limit, Int32(MSG_TRUNC))
      guard count >= 0 else { return (count, errno, []) }
      return (count, 0, Array(buffer.prefix(min(count, limit))))
    }
  }

  private static func oversized(_ bytes: Int, limit: Int) -> LinkLoss {
    .failed(
      errno: EMSGSIZE,
      reason: "The peer sent a PDU of \(bytes) bytes; the limit is \(limit). Close the link.")
  }

  private static func pendingError(of raw: Int32) -> LinkLoss {
    let number = SocketOption.pendingError(of: raw)
    return number == 0 ? .closedByPeer : LinkLoss(socketError: number)
  }

  // MARK: - Waiting

  /// Waits for readiness; returns whether the peer or the kernel has ended the socket.
  @discardableResult
  func wait(
    for direction: WatchDirection, until deadline: LinkInstant?
  ) async throws(LinkLoss) -> Bool {
    switch await EventLoop.shared.wait(for: direction, on: watch, until: deadline) {
    case .ready(let hungUp): return hungUp
    case .cancelled: throw .cancelled
    case .closed: throw .closedLocally
    case .timedOut:
      throw .failed(errno: ETIMEDOUT, reason: "The wait exceeded its time limit.")
    }
  }

  /// Runs a system call on the open descriptor; returns `nil` after the socket is closed.
  func withDescriptor<Value: Sendable>(_ body: (Int32) -> Value) -> Value? {
    state.withLock { state in
      guard let raw = state.descriptor?.raw else { return nil }
      return body(raw)
    }
  }
}
