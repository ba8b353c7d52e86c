import Synchronization

/// A counter that starts at 0.
final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }

  /// Increments the counter; returns its previous value.
  func take() -> Int {
    count.withLock { count in
      count += 1
      return count - 1
    }
  }
}
