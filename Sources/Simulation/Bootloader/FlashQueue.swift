/// The flash operations that a program has started, in order. The first operation runs, and the
/// others wait. An entry remains in the queue until its last operation has ended.
struct FlashQueue<Purpose: Sendable>: Sendable {
  private struct Entry {
    /// The operations in execution order; together they count as one entry.
    var operations: [FlashOperation]
    let purpose: Purpose
  }

  /// The maximum number of entries.
  let capacity: Int
  private var entries: [Entry] = []

  init(capacity: Int) { self.capacity = capacity }

  var isIdle: Bool { entries.isEmpty }
  var hasRoom: Bool { entries.count < capacity }

  /// The running operation; `nil` = the queue is empty.
  var running: FlashOperation? { entries.first?.operations.first }

  /// Queues one or more operations as one entry; returns `false` if the queue is full.
  mutating func offer(_ operations: [FlashOperation], for purpose: Purpose) -> Bool {
    guard hasRoom else { return false }
    entries.append(Entry(operations: operations, purpose: purpose))
    return true
  }

  /// Handles the end of the running operation. Returns the purpose of its entry if the entry is
  /// done.
  mutating func finishedOne() -> Purpose? {
    precondition(!entries.isEmpty, "an operation ended that was not started")
    entries[0].operations.removeFirst()
    guard entries[0].operations.isEmpty else { return nil }
    return entries.removeFirst().purpose
  }
}
