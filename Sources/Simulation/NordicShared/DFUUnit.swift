import OtaflashATT
import OtaflashGATT
import Synchronization

/// The machine of one boot with its timers and random generator. Safe to use from any task.
final class DFUUnit<Machine: DFUMachine>: Sendable {
  private struct State: Sendable {
    var machine: Machine
    /// The time of the last event that restarted the inactivity timer.
    var lastSign: LinkInstant
    /// The time at which the boot ends; set when the machine requests a reset or an activation.
    var end: LinkInstant?
    var isOver = false
    var random: SeededRandom
  }

  private let parts: BoardParts
  private let state: Mutex<State>

  init(_ machine: Machine, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    state = Mutex(State(machine: machine, lastSign: parts.clock.now, random: random))
  }

  /// The current state of the machine.
  var machine: Machine { state.withLock { $0.machine } }

  // MARK: The two characteristics

  var controlPoint: AttributeValue {
    .written { [self] bytes, _ in
      defer { parts.wake() }
      return state.withLock { state in
        if state.machine.breaksSilence(.control(bytes)) { state.lastSign = parts.clock.now }
        return state.machine.controlWritten(bytes)
      }
    }
  }

  var packet: AttributeValue {
    .written { [self] bytes, _ in
      state.withLock { state in
        if state.machine.breaksSilence(.packet(bytes)) { state.lastSign = parts.clock.now }
        state.machine.packetWritten(bytes)
      }
      parts.wake()
      return nil
    }
  }

  /// Handles an event of the server whose Control Point is `control`.
  func note(_ event: GATTServerEvent, control: AttributeHandle) {
    state.withLock { state in
      switch event {
      case .connected:
        if Machine.connectionBreaksSilence { state.lastSign = parts.clock.now }
      case .configured(_, control, let value):
        state.machine.isNotifying = value.contains(.notification)
      case .disconnected: state.machine.disconnected()
      case .mtuChanged, .configured, .confirmed: break
      }
    }
    parts.wake()
  }

  // MARK: The main loop

  /// Returns the pending notifications, and the time until the next poll; `nil` = after the next
  /// event.
  func poll(at now: LinkInstant) -> (responses: [[UInt8]], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      var responses = state.machine.responses
      state.machine.responses.removeAll()
      if isNonsense {
        responses = responses.map { _ in
          state.random.bytes(count: Int.random(in: 1...20, using: &state.random))
        }
      }
      return (responses, timeLeft(in: &state, at: now))
    }
  }

  /// Handles a timer that has expired. Returns the time until the next timer expires; `nil` = no
  /// timer runs.
  private func timeLeft(in state: inout State, at now: LinkInstant) -> Duration? {
    if state.machine.request != nil {
      let end = state.end ?? now.advanced(by: parts.answerTime)
      state.end = end
      state.isOver = now >= end
      return state.isOver ? nil : now.duration(to: end)
    }
    guard let limit = state.machine.silenceLimit else { return nil }
    let deadline = state.lastSign.advanced(by: limit)
    guard now >= deadline else { return now.duration(to: deadline) }
    state.isOver = state.machine.silenceTooLong()
    return nil
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.machine.queue.running } }

  func flashDone(_ isDone: Bool) { state.withLock { $0.machine.flashDone(isDone) } }

  /// The reason why the boot ends; `nil` while it continues.
  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      return switch state.machine.request {
      case .activate: .activated
      case .reset, nil: .reset
      }
    }
  }
}
