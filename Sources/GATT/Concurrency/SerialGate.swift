import Synchronization

/// Lets one task in at a time, in the order of arrival.
///
/// Leaving is not bound to the task that entered: a request whose caller was cancelled keeps the
/// gate until its response has come.
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

  /// How many tasks wait outside.
  package var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// Enters if nobody is inside or waits; `false` also when the gate is closed.
  package func enterNow() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.isOccupied else { return false }
      state.isOccupied = true
      return true
    }
  }

  /// Enters when its turn comes.
  package func enter() async -> Entry { await enter(at: arrive()) }

  /// Enters at the place that `arrive` gave. To be called once for a place.
  package func enter(at place: Arrival) async -> Entry {
    switch place {
    case .settled(let entry):
      return entry
    case .queued(let number, let turn):
      if let entry = await turn.wait() { return entry }
      // Cancelled while queued: `wait` and `fulfil` agree on who was first, so no turn was given.
      state.withLock { $0.waiters.removeAll { $0.number == number } }
      return .cancelled
    }
  }

  /// A place outside the gate, which must be entered at or given up.
  package enum Arrival: Sendable {
    case settled(Entry)
    case queued(UInt64, OneShot<Entry>)
  }

  /// Takes a place without waiting: tasks enter in the order of these calls.
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

  /// Leaves a place that was never entered at.
  package func giveUp(_ place: Arrival) {
    switch place {
    case .settled(.entered): leave()
    case .settled: break
    case .queued(let number, let turn):
      state.withLock { $0.waiters.removeAll { $0.number == number } }
      // A turn that was given in this moment is passed on.
      if !turn.fulfil(.cancelled) { leave() }
    }
  }

  /// Lets the next task in.
  package func leave() {
    while true {
      let next = state.withLock { state -> OneShot<Entry>? in
        guard !state.waiters.isEmpty else {
          state.isOccupied = false
          return nil
        }
        return state.waiters.removeFirst().turn
      }
      // A waiter that was cancelled in this moment refuses its turn; the one behind it gets it.
      guard let next, !next.fulfil(.entered) else { return }
    }
  }

  /// Turns everyone away, now and later.
  package func close() {
    let waiters = state.withLock { state in
      state.isClosed = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.turn.fulfil(.closed) }
  }
}
