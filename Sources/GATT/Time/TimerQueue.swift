import OtaflashATT

/// Timers in the order of their deadlines. Timers with equal deadlines fire in the order of
/// insertion, so that a simulated run depends only on its seed.
package struct TimerQueue<Payload> {
  package struct Token: Hashable, Sendable {
    @usableFromInline let number: UInt64

    @inlinable init(number: UInt64) { self.number = number }
  }

  /// The maximum number of cancelled timers in `order` for which no cleanup occurs.
  @inlinable static var cancelledKept: Int { 64 }

  @usableFromInline var order = TimerOrder()
  /// Payloads by timer number; a timer in `order` without a payload was cancelled.
  @usableFromInline var payloads: [UInt64: Payload] = [:]
  @usableFromInline var nextNumber: UInt64 = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { payloads.isEmpty }

  /// Returns the earliest deadline; `nil` if no timer is set.
  @inlinable package mutating func nextDeadline() -> LinkInstant? {
    dropCancelledHead()
    return order.first?.deadline
  }

  @inlinable package mutating func insert(_ payload: Payload, at deadline: LinkInstant) -> Token {
    let number = nextNumber
    nextNumber += 1
    payloads[number] = payload
    order.insert(TimerOrder.Entry(deadline: deadline, number: number))
    return Token(number: number)
  }

  /// Removes a timer; returns `false` if the timer has fired or was already cancelled.
  @inlinable package mutating func cancel(_ token: Token) -> Bool {
    guard payloads.removeValue(forKey: token.number) != nil else { return false }
    compactIfMostlyCancelled()
    return true
  }

  /// Removes and returns the first timer that is due at `now`; returns `nil` if no timer is due.
  @inlinable package mutating func popDue(at now: LinkInstant) -> Payload? {
    dropCancelledHead()
    guard let first = order.first, first.deadline <= now else { return nil }
    order.removeFirst()
    return payloads.removeValue(forKey: first.number)
  }

  /// Removes cancelled timers if they are the majority. Most timers limit a wait that succeeds, so
  /// without this cleanup, cancelled timers would accumulate.
  @inlinable mutating func compactIfMostlyCancelled() {
    let cancelled = order.count - payloads.count
    guard cancelled > Self.cancelledKept, cancelled > payloads.count else { return }
    order.keep { [payloads] in payloads[$0] != nil }
  }

  @inlinable mutating func dropCancelledHead() {
    while let first = order.first, payloads[first.number] == nil { order.removeFirst() }
  }
}

/// A binary heap of deadlines, the earliest first. The type does not depend on the payload, so that
/// one copy of its code serves all queues.
@usableFromInline struct TimerOrder {
  @usableFromInline struct Entry {
    @usableFromInline let deadline: LinkInstant
    @usableFromInline let number: UInt64

    @usableFromInline init(deadline: LinkInstant, number: UInt64) {
      self.deadline = deadline
      self.number = number
    }

    fileprivate func isBefore(_ other: Entry) -> Bool {
      (deadline, number) < (other.deadline, other.number)
    }
  }

  private var heap: [Entry] = []

  @usableFromInline init() {}

  @usableFromInline var count: Int { heap.count }
  @usableFromInline var first: Entry? { heap.first }

  @usableFromInline mutating func insert(_ entry: Entry) {
    heap.append(entry)
    siftUp(from: heap.count - 1)
  }

  @usableFromInline mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown(from: 0)
  }

  /// Removes the timers that `isKept` rejects.
  @usableFromInline mutating func keep(_ isKept: (_ number: UInt64) -> Bool) {
    heap.removeAll { !isKept($0.number) }
    for parent in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(from: parent) }
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
