import Glibc

/// Counts the steps of a thread, and lets other threads wait for the next step: a condition
/// variable on the monotonic clock. It exists as long as the process.
package struct WriteProgress: Sendable {
  /// A `pthread_mutex_t`, a `pthread_cond_t`, and the count.
  private let mutexAddress: UInt
  private let conditionAddress: UInt
  private let countAddress: UInt

  package init() {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    let count = UnsafeMutablePointer<UInt>.allocate(capacity: 1)
    count.initialize(to: 0)
    mutexAddress = UInt(bitPattern: mutex)
    conditionAddress = UInt(bitPattern: condition)
    countAddress = UInt(bitPattern: count)
  }

  /// The number of steps so far. Read this number before you check the awaited condition, so that
  /// no step is missed.
  package var count: UInt { locked { $1.pointee } }

  /// Adds a step.
  package func advance() {
    locked { condition, count in
      count.pointee &+= 1
      pthread_cond_broadcast(condition)
    }
  }

  /// Returns `true` after a step that follows `seen`, or `false` if no step follows within `limit`.
  /// `nil` = no limit.
  package func wait(after seen: UInt, within limit: Duration? = nil) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    if let limit {
      let nanoseconds = Int(limit.components.attoseconds / 1_000_000_000) + deadline.tv_nsec
      deadline.tv_sec += Int(limit.components.seconds) + nanoseconds / 1_000_000_000
      deadline.tv_nsec = nanoseconds % 1_000_000_000
    }
    guard let mutex = UnsafeMutablePointer<pthread_mutex_t>(bitPattern: mutexAddress) else {
      return true
    }
    return locked { condition, count in
      while count.pointee == seen {
        let failure =
          limit == nil
          ? pthread_cond_wait(condition, mutex)
          : pthread_cond_timedwait(condition, mutex, &deadline)
        if failure == ETIMEDOUT { return count.pointee != seen }
      }
      return true
    }
  }

  private func locked<Value>(
    _ body: (UnsafeMutablePointer<pthread_cond_t>, UnsafeMutablePointer<UInt>) -> Value
  ) -> Value {
    guard let mutex = UnsafeMutablePointer<pthread_mutex_t>(bitPattern: mutexAddress),
      let condition = UnsafeMutablePointer<pthread_cond_t>(bitPattern: conditionAddress),
      let count = UnsafeMutablePointer<UInt>(bitPattern: countAddress)
    else { preconditionFailure("the addresses must be addresses of allocations") }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(condition, count)
  }
}
