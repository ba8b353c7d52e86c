import OtaflashATT
import OtaflashGATT
import Synchronization

/// The server of one boot with its timers. Safe to use from any task.
final class OADUnit: Sendable {
  private struct State: Sendable {
    var server: OADServer
    /// The time of the restart, set when the image was enabled.
    var end: LinkInstant?
    var isOver = false
    var random: SeededRandom
  }

  private let parts: BoardParts
  private let state: Mutex<State>

  init(_ server: OADServer, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    state = Mutex(State(server: server, random: random))
  }

  /// A characteristic: written values are stored for the application.
  func value(of target: OADServer.Target) -> AttributeValue {
    .written { [self] bytes, _ in
      state.withLock { $0.server.written(bytes, to: target) }
      parts.wake()
      return nil
    }
  }

  func note(_ event: GATTServerEvent, identify: AttributeHandle) {
    state.withLock { state in
      switch event {
      case .mtuChanged(_, let mtu): state.server.mtuChanged(mtu)
      case .configured(_, identify, let configuration):
        state.server.notifiesIdentify = !configuration.isEmpty
      case .disconnected: state.server.disconnected()
      case .connected, .configured, .confirmed: break
      }
    }
    parts.wake()
  }

  // MARK: The main loop

  /// Returns the pending notifications, and the time until the next poll; `nil` = after the next
  /// event.
  func poll(at now: LinkInstant) -> (notices: [OADServer.Message], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      state.server.work(at: now)
      let deadline = state.server.deadline(at: now)
      var notices = state.server.notices
      state.server.notices.removeAll()
      if isNonsense {
        notices = notices.map { notice in
          let count = Int.random(in: 1...20, using: &state.random)
          return OADServer.Message(target: notice.target, bytes: state.random.bytes(count: count))
        }
      }
      guard state.server.isEnabled else {
        return (notices, deadline.map { now.duration(to: $0) })
      }
      let end = state.end ?? now.advanced(by: parts.answerTime)
      state.end = end
      state.isOver = now >= end
      return (notices, state.isOver ? nil : now.duration(to: end))
    }
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.server.queue.running } }

  func flashDone(_ isDone: Bool) { state.withLock { $0.server.flashDone(isDone) } }

  /// Whether the device restarts now.
  var isOver: Bool { state.withLock { $0.isOver } }
}
