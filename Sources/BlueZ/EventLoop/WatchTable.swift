/// The identifier of a descriptor on the event loop. Numbers are never reused, so a late event for
/// a closed descriptor reaches no task.
struct Watch: Hashable, Sendable { let number: UInt64 }

/// The direction of the input or output that a task waits for.
enum WatchDirection: Sendable { case readable, writable }

/// The directions for which a descriptor has waiters, or in which it is ready.
struct Readiness: Equatable, Sendable {
  var readable = false
  var writable = false
  /// An error or the end of the stream; ends waits in both directions.
  var hungUp = false

  var isEmpty: Bool { !readable && !writable && !hungUp }
}

/// The descriptors of the loop and the tasks that wait for them. The table has no side effects: the
/// loop calls it under a lock, and makes the system calls.
struct WatchTable {
  struct Entry {
    let descriptor: Int32
    var readers: [Waiter] = []
    var writers: [Waiter] = []

    var interest: Readiness { Readiness(readable: !readers.isEmpty, writable: !writers.isEmpty) }
  }

  private var entries: [Watch: Entry] = [:]
  private var nextNumber: UInt64 = Poller.firstWatchNumber

  mutating func insert(_ descriptor: Int32) -> Watch {
    let watch = Watch(number: nextNumber)
    nextNumber += 1
    entries[watch] = Entry(descriptor: descriptor)
    return watch
  }

  mutating func remove(_ watch: Watch) -> Entry? { entries.removeValue(forKey: watch) }

  /// Adds a waiter and returns the events for which the descriptor must be armed; `nil` if the
  /// descriptor was removed.
  mutating func insert(
    _ waiter: Waiter, _ direction: WatchDirection, on watch: Watch
  ) -> (descriptor: Int32, interest: Readiness)? {
    guard var entry = entries.removeValue(forKey: watch) else { return nil }
    switch direction {
    case .readable: entry.readers.append(waiter)
    case .writable: entry.writers.append(waiter)
    }
    entries[watch] = entry
    return (entry.descriptor, entry.interest)
  }

  /// Removes a waiter that was cancelled or timed out.
  mutating func remove(_ waiter: Waiter, _ direction: WatchDirection, on watch: Watch) {
    switch direction {
    case .readable: entries[watch]?.readers.removeAll { $0 === waiter }
    case .writable: entries[watch]?.writers.removeAll { $0 === waiter }
    }
  }

  /// Removes and returns the waiters to which the event applies. The descriptor must be armed again
  /// for the other waiters.
  mutating func fire(
    _ watch: Watch, _ readiness: Readiness
  ) -> (waiters: [Waiter], descriptor: Int32, interest: Readiness)? {
    guard var entry = entries.removeValue(forKey: watch) else { return nil }
    var waiters: [Waiter] = []
    if readiness.readable || readiness.hungUp { swap(&waiters, &entry.readers) }
    if readiness.writable || readiness.hungUp {
      waiters += entry.writers
      entry.writers = []
    }
    entries[watch] = entry
    return (waiters, entry.descriptor, entry.interest)
  }
}
