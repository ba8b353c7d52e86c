import Synchronization

/// A bounded queue with any number of producers and one consumer. Producers never wait, so
/// that a slow consumer cannot stall a link: if the queue is full, `offer` rejects the element, and
/// `push` drops the oldest element.
package final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var head = 0
    var isFinished = false
    var waiter: OneShot<Void>?

    var count: Int { elements.count - head }

    mutating func pop() -> Element? {
      guard head < elements.count else { return nil }
      let element = elements[head]
      head += 1
      if head == elements.count {
        elements.removeAll(keepingCapacity: true)
        head = 0
      } else if head >= 64 && head * 2 >= elements.count {
        elements.removeFirst(head)
        head = 0
      }
      return element
    }
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: the maximum number of elements, 1 or more.
  package init(capacity: Int) {
    precondition(capacity >= 1)
    self.capacity = capacity
  }

  /// Adds an element; returns `false` if the mailbox is full or finished.
  @discardableResult
  package func offer(_ element: Element) -> Bool {
    let (accepted, waiter) = state.withLock { state -> (Bool, OneShot<Void>?) in
      guard !state.isFinished, state.count < capacity else { return (false, nil) }
      state.elements.append(element)
      return (true, state.waiter.take())
    }
    waiter?.fulfil(())
    return accepted
  }

  /// Adds an element, and drops the oldest element if the mailbox is full. Returns the number of
  /// dropped elements. Has no effect if the mailbox is finished.
  @discardableResult
  package func push(_ element: Element) -> Int {
    let (dropped, waiter) = state.withLock { state -> (Int, OneShot<Void>?) in
      guard !state.isFinished else { return (0, nil) }
      let dropped = state.count < capacity ? nil : state.pop()
      state.elements.append(element)
      return (dropped == nil ? 0 : 1, state.waiter.take())
    }
    waiter?.fulfil(())
    return dropped
  }

  /// Finishes the mailbox: no further elements are accepted, and queued elements are still
  /// delivered.
  package func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.waiter.take()
    }
    waiter?.fulfil(())
  }

  /// Waits until an element is queued or the mailbox is finished, and consumes nothing; returns
  /// `false` if the task is cancelled.
  @discardableResult
  package func waitForArrival() async -> Bool {
    while !Task.isCancelled {
      let waiter = state.withLock { state -> OneShot<Void>? in
        guard state.count == 0, !state.isFinished else { return nil }
        let waiter = OneShot<Void>()
        state.waiter = waiter
        return waiter
      }
      guard let waiter else { return true }
      if await waiter.wait() == nil { return false }
    }
    return false
  }

  /// Returns the next element if one is queued.
  package func poll() -> Element? { state.withLock { $0.pop() } }

  /// Returns the next element; returns `nil` if the mailbox is finished and empty, or if the task
  /// is cancelled.
  package func next() async -> Element? {
    while !Task.isCancelled {
      let step = state.withLock { state -> (element: Element?, waiter: OneShot<Void>?) in
        if let element = state.pop() { return (element, nil) }
        if state.isFinished { return (nil, nil) }
        let waiter = OneShot<Void>()
        state.waiter = waiter
        return (nil, waiter)
      }
      guard let waiter = step.waiter else { return step.element }
      if await waiter.wait() == nil { return nil }
    }
    return nil
  }
}
