import OtaflashATT

/// Timers in the order in which they fall due; equal deadlines fire in the order of insertion, so
/// that a simulated run is a function of its seed.
package struct TimerQueue<Payload> {
  package struct Token: Hashable, Sendable { fileprivate let number: UInt64 }

  private struct Entry {
    let deadline: LinkInstant
    let token: Token
    let payload: Payload

    func isBefore(_ other: Entry) -> Bool {
      (deadline, token.number) < (other.deadline, other.token.number)
    }
  }

  /// Cancelled timers that stay in the heap before it is looked through.
  private static var cancelledKept: Int { 64 }

  private var heap: [Entry] = []
  private var cancelled: Set<Token> = []
  private var pending: Set<Token> = []
  private var nextNumber: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { pending.isEmpty }

  /// The earliest deadline, or `nil` when no timer is set.
  package mutating func nextDeadline() -> LinkInstant? {
    dropCancelledHead()
    return heap.first?.deadline
  }

  package mutating func insert(_ payload: Payload, at deadline: LinkInstant) -> Token {
    let token = Token(number: nextNumber)
    nextNumber += 1
    pending.insert(token)
    heap.append(Entry(deadline: deadline, token: token, payload: payload))
    siftUp(from: heap.count - 1)
    return token
  }

  /// Takes a timer out; `false` when it has fired or was cancelled before.
  package mutating func cancel(_ token: Token) -> Bool {
    guard pending.remove(token) != nil else { return false }
    cancelled.insert(token)
    compactIfMostlyCancelled()
    return true
  }

  /// Takes the first timer that is due at `now`.
  package mutating func popDue(at now: LinkInstant) -> Payload? {
    dropCancelledHead()
    guard let first = heap.first, first.deadline <= now else { return nil }
    pending.remove(first.token)
    return removeHead().payload
  }

  /// Most timers bound a wait that ends well: without this the heap would fill with them.
  private mutating func compactIfMostlyCancelled() {
    guard cancelled.count > Self.cancelledKept, cancelled.count > pending.count else { return }
    heap.removeAll { cancelled.contains($0.token) }
    cancelled.removeAll(keepingCapacity: true)
    for parent in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(from: parent) }
  }

  private mutating func dropCancelledHead() {
    while let first = heap.first, cancelled.remove(first.token) != nil { _ = removeHead() }
  }

  private mutating func removeHead() -> Entry {
    heap.swapAt(0, heap.count - 1)
    let head = heap.removeLast()
    siftDown(from: 0)
    return head
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[smallest]) {
        smallest = child
      }
      guard smallest != parent else { return }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
