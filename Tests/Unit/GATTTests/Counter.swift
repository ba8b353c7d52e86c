import Synchronization

/// Counts from 0.
final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }

  /// The number before this call.
  func take() -> Int {
    count.withLock { count in
      count += 1
      return count - 1
    }
  }
}
