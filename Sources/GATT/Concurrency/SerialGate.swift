import Synchronization

/// Admits one task at a time, in the order of arrival.
///
/// The task that leaves the gate need not be the task that entered it: a request whose caller was
/// cancelled occupies the gate until its response arrives.
package final class SerialGate: Sendable {
  package enum Entry: Equatable, Sendable { case entered, cancelled, closed, full }

  private struct State {
    var isOccupied = false
    var isClosed = false
    var waiters: [(number: UInt64, turn: OneShot<Entry>)] = []
    var nextNumber: UInt64 = 0
  }

  private let waitersMaximum: Int
  private let state = Mutex(State())

  package init(waitersMaximum: Int) { self.waitersMaximum = waitersMaximum }

  /// The number of waiting tasks.
  package var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// Enters if the gate is free and no task waits; returns `false` otherwise, and also if the gate
  /// is closed.
  package func enterNow() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.isOccupied else { return false }
      state.isOccupied = true
      return true
    }
  }

  /// Enters the gate after the tasks that already wait.
  package func enter() async -> Entry { await enter(at: arrive()) }

  /// Enters the gate with a place from `arrive`. Each place can be used once.
  package func enter(at place: Arrival) async -> Entry {
    switch place {
    case .settled(let entry):
      return entry
    case .queued(let number, let turn):
      if let entry = await turn.wait() { return entry }
      // The task was cancelled while queued: `wait` and `fulfil` agree on the order, so the task
      // was not admitted.
      state.withLock { $0.waiters.removeAll { $0.number == number } }
      return .cancelled
    }
  }

  /// A place in the queue of the gate. The owner must use the place to enter, or give up the place.
  package enum Arrival: Sendable {
    case settled(Entry)
    case queued(UInt64, OneShot<Entry>)
  }

  /// Returns a place without waiting: tasks enter in the order of these calls.
  package func arrive() -> Arrival {
    state.withLock { state in
      if state.isClosed { return .settled(.closed) }
      guard state.isOccupied else {
        state.isOccupied = true
        return .settled(.entered)
      }
      guard state.waiters.count < waitersMaximum else { return .settled(.full) }
      let number = state.nextNumber
      let turn = OneShot<Entry>()
      state.nextNumber += 1
      state.waiters.append((number, turn))
      return .queued(number, turn)
    }
  }

  /// Gives up a place that was not used.
  package func giveUp(_ place: Arrival) {
    switch place {
    case .settled(.entered): leave()
    case .settled: break
    case .queued(let number, let turn):
      state.withLock { $0.waiters.removeAll { $0.number == number } }
      // If the task is admitted at this moment, the task leaves immediately, and the next task is
      // admitted.
      if !turn.fulfil(.cancelled) { leave() }
    }
  }

  /// Leaves the gate, and admits the next task.
  package func leave() {
    while true {
      let next = state.withLock { state -> OneShot<Entry>? in
        guard !state.waiters.isEmpty else {
          state.isOccupied = false
          return nil
        }
        return state.waiters.removeFirst().turn
      }
      // If a waiting task is cancelled at this moment, the next waiting task is admitted instead.
      guard let next, !next.fulfil(.entered) else { return }
    }
  }

  /// Closes the gate: all present and future tasks are rejected.
  package func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.turn.fulfil(.closed) }
  }
}
