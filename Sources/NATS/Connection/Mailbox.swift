#if Sites
import Synchronization

/// A queue of at most `capacity` messages for one waiting task.
final class Mailbox: Sendable {
  private struct State {
    var messages: [NATSMessage] = []
    /// The fault that ends the mailbox; messages that arrived before the fault can still be read.
    var fault: NATSFault?
    /// The fault that ends the current wait.
    var interruption: NATSFault?
    var reader: CheckedContinuation<Void, Never>?

    mutating func takeReader() -> CheckedContinuation<Void, Never>? {
      defer { reader = nil }
      return reader
    }
  }
  private let state = Mutex(State())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Adds a message; returns `false` if the mailbox is full or has ended.
  func deliver(_ message: NATSMessage) -> Bool {
    let (isTaken, reader) = state.withLock { state in
      guard state.fault == nil, state.messages.count < capacity else {
        return (false, nil as CheckedContinuation<Void, Never>?)
      }
      state.messages.append(message)
      return (true, state.takeReader())
    }
    reader?.resume()
    return isTaken
  }

  /// Ends the mailbox. Messages that arrived earlier can still be read.
  func end(_ fault: NATSFault) {
    let reader = state.withLock { state in
      state.fault = state.fault ?? fault
      return state.takeReader()
    }
    reader?.resume()
  }

  /// Returns the next message.
  ///
  /// - Throws: the fault that ended the mailbox, `.timedOut`, or `.cancelled(isSent: true)`.
  func next(
    within limit: Duration, on clock: any Clock<Duration>
  ) async throws(NATSFault) -> NATSMessage {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        do {
          try await clock.sleep(for: limit)
          self.interrupt(.timedOut)
        } catch {
          // After the wait, the group cancels the sleep, and this call has no effect.
          self.interrupt(.cancelled(isSent: true))
        }
      }
      await withCheckedContinuation { reader in
        let isReady = state.withLock { state in
          guard state.messages.isEmpty, state.fault == nil, state.interruption == nil else {
            return true
          }
          precondition(state.reader == nil, "two tasks read one mailbox")
          state.reader = reader
          return false
        }
        if isReady { reader.resume() }
      }
      group.cancelAll()
    }
    let result = state.withLock { state -> Result<NATSMessage, NATSFault> in
      defer { state.interruption = nil }
      guard state.messages.isEmpty else { return .success(state.messages.removeFirst()) }
      if let fault = state.fault { return .failure(fault) }
      return .failure(state.interruption ?? .timedOut)
    }
    return try result.get()
  }

  private func interrupt(_ fault: NATSFault) {
    let reader = state.withLock { state in
      state.interruption = state.interruption ?? fault
      return state.takeReader()
    }
    reader?.resume()
  }
}
#endif
