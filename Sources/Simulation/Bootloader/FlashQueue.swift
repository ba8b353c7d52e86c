/// Flash operations that a program has handed over and that end in their order: one runs, the
/// others wait. A running one holds its place until its end.
struct FlashQueue<Purpose: Sendable>: Sendable {
  private struct Entry {
    /// In the order in which they run; they share one place.
    var operations: [FlashOperation]
    let purpose: Purpose
  }

  /// The most places.
  let capacity: Int
  private var entries: [Entry] = []

  init(capacity: Int) { self.capacity = capacity }

  var isIdle: Bool { entries.isEmpty }
  var hasRoom: Bool { entries.count < capacity }

  /// The operation that runs.
  var running: FlashOperation? { entries.first?.operations.first }

  /// Takes operations, one or more, as one entry; `false` when there is no room.
  mutating func offer(_ operations: [FlashOperation], for purpose: Purpose) -> Bool {
    guard hasRoom else { return false }
    entries.append(Entry(operations: operations, purpose: purpose))
    return true
  }

  /// The running operation has ended. Returns what its entry was for when that has ended with it.
  mutating func finishedOne() -> Purpose? {
    precondition(!entries.isEmpty, "an operation ended that was not started")
    entries[0].operations.removeFirst()
    guard entries[0].operations.isEmpty else { return nil }
    return entries.removeFirst().purpose
  }
}
