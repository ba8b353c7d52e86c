import OtaflashATT
import OtaflashGATT

/// The ready jobs and the sleepers of a virtual timeline.
struct TimelineState {
  typealias Sleeper = UnsafeContinuation<Bool, Never>

  enum Jump {
    case woke(Sleeper)
    case nothingPending
    case beyondEnd
  }

  private struct Sleep {
    let token: TimerQueue<UInt64>.Token
    let sleeper: Sleeper
  }

  private(set) var now = LinkInstant.start
  var ready: [UnownedJob] = []
  private var readyHead = 0
  private var timers = TimerQueue<UInt64>()
  private var sleeps: [UInt64: Sleep] = [:]
  private var nextNumber: UInt64 = 0
  private var isRunning = false

  /// Whether another thread resumed a task of this run, or sleeps on its clock.
  private var isEntered = false

  mutating func beginRun() {
    precondition(!isRunning, "a timeline runs one body at a time")
    isRunning = true
    isEntered = false
  }

  mutating func noteEntry() { if isRunning { isEntered = true } }

  mutating func takeEntry() -> Bool {
    defer { isEntered = false }
    return isEntered
  }

  mutating func endRun() { isRunning = false }

  mutating func takeReadyJob() -> UnownedJob? {
    guard readyHead < ready.count else { return nil }
    defer { advanceHead() }
    return ready[readyHead]
  }

  private mutating func advanceHead() {
    readyHead += 1
    if readyHead == ready.count {
      ready.removeAll(keepingCapacity: true)
      readyHead = 0
    } else if readyHead == 4096 {
      ready.removeFirst(readyHead)
      readyHead = 0
    }
  }

  mutating func newSleeperNumber() -> UInt64 {
    nextNumber += 1
    return nextNumber
  }

  mutating func register(_ sleeper: Sleeper, number: UInt64, until deadline: LinkInstant) {
    let token = timers.insert(number, at: max(deadline, now))
    sleeps[number] = Sleep(token: token, sleeper: sleeper)
  }

  mutating func cancelSleeper(_ number: UInt64) -> Sleeper? {
    guard let sleep = sleeps.removeValue(forKey: number) else { return nil }
    _ = timers.cancel(sleep.token)
    return sleep.sleeper
  }

  /// Returns a sleeper whose deadline was reached without a jump of the clock.
  mutating func takeDueSleeper() -> Sleeper? {
    guard let number = timers.popDue(at: now) else { return nil }
    return sleeps.removeValue(forKey: number)?.sleeper
  }

  /// Advances the clock to the next timer, unless this timer is after `end`.
  mutating func jump(noLaterThan end: LinkInstant) -> Jump {
    guard let deadline = timers.nextDeadline() else { return .nothingPending }
    guard deadline <= end else { return .beyondEnd }
    now = max(now, deadline)
    guard let sleeper = takeDueSleeper() else {
      preconditionFailure("a pending timer without a sleeper")
    }
    return .woke(sleeper)
  }
}
