import OtaflashATT
import OtaflashGATT
import Synchronization

/// The server of one boot with its timers. Safe to use from any task.
final class TelinkUnit: Sendable {
  private struct State: Sendable {
    var server: TelinkServer
    /// The time of the reset, set when the server requests the reset.
    var end: LinkInstant?
    var isOver = false
    var random: SeededRandom
  }

  private let parts: BoardParts
  private let errorDelay: Duration
  private let state: Mutex<State>
  /// Signals the end of flash operations.
  private let flashed = WakeSignal()

  init(_ server: TelinkServer, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    errorDelay = server.settings.errorDelay
    state = Mutex(State(server: server, random: random))
  }

  // MARK: The characteristic

  /// The chip writes its flash synchronously: it processes the next PDU after the write.
  var value: AttributeValue {
    .asynchronous(
      read: { _ in .success([0]) },
      write: { [self] bytes, context in
        state.withLock { $0.server.written(bytes, mtu: context.mtu, at: parts.clock.now) }
        parts.wake()
        while pendingOperation != nil, !Task.isCancelled { await flashed.wait() }
        return nil
      })
  }

  func note(_ event: GATTServerEvent) {
    guard case .disconnected = event else { return }
    state.withLock { $0.server.disconnected() }
    parts.wake()
  }

  // MARK: The main loop

  /// Returns the pending notifications, and the time until the next poll; `nil` = after the next
  /// event.
  func poll(at now: LinkInstant) -> (notices: [[UInt8]], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      let deadline = state.server.deadline(at: now)
      var notices = state.server.notices
      state.server.notices.removeAll()
      if isNonsense {
        notices = notices.map { _ in
          state.random.bytes(count: Int.random(in: 1...20, using: &state.random))
        }
      }
      guard let request = state.server.request else {
        return (notices, deadline.map { now.duration(to: $0) })
      }
      let delay = request == .reset ? max(errorDelay, parts.answerTime) : parts.answerTime
      let end = state.end ?? now.advanced(by: delay)
      state.end = end
      state.isOver = now >= end
      return (notices, state.isOver ? nil : now.duration(to: end))
    }
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.server.queue.running } }

  func flashDone(_ isDone: Bool) {
    state.withLock { $0.server.flashDone(isDone) }
    flashed.signal()
  }

  /// The reason why the boot ends; `nil` while it continues.
  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      return switch state.server.request {
      case .activate: .activated
      case .reset, nil: .reset
      }
    }
  }
}
