import OtaflashATT
import OtaflashGATT
import Synchronization

/// A clock that stops until the test advances it.
final class ManualClock: LinkClock {
  private struct State {
    var now = LinkInstant.start
    var timers = TimerQueue<OneShot<Void>>()
    var waiting: OneShot<Void>?
  }

  private let state = Mutex(State())

  var now: LinkInstant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }

  func randomFraction() -> Double { 0 }

  func sleep(until deadline: LinkInstant, tolerance: Duration?) async throws {
    let turn = OneShot<Void>()
    let waiting = state.withLock { state in
      _ = state.timers.insert(turn, at: deadline)
      return state.waiting.take()
    }
    waiting?.fulfil(())
    guard await turn.wait() != nil else { throw CancellationError() }
  }

  /// Waits until a task sleeps on this clock.
  func sleeper() async {
    let turn = state.withLock { state -> OneShot<Void>? in
      guard state.timers.isEmpty else { return nil }
      let turn = OneShot<Void>()
      state.waiting = turn
      return turn
    }
    _ = await turn?.wait()
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      var due: [OneShot<Void>] = []
      while let turn = state.timers.popDue(at: state.now) { due.append(turn) }
      return due
    }
    for turn in due { turn.fulfil(()) }
  }
}
