import OtaflashATT
import OtaflashGATT

/// The machine of one boot with its timer. Safe to use from any task.
final class MicrobitUnit: Sendable {
  private struct State: Sendable {
    var machine: MicrobitMachine
    var isOver = false
    var random: SeededRandom
  }

  private let parts: BoardParts
  /// The end of pairing mode; `nil` for a program of a user.
  private let pairingEnd: LinkInstant?
  private let state: Shared<State>

  init(_ machine: MicrobitMachine, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    pairingEnd =
      machine.isPairing ? parts.clock.now.advanced(by: machine.settings.pairingLimit) : nil
    state = Shared(State(machine: machine, random: random))
  }

  // MARK: The characteristic

  /// The device processes packets while it writes its flash.
  var value: AttributeValue {
    .written { [self] bytes, _ in
      state.withLock { $0.machine.written(bytes) }
      parts.wake()
      return nil
    }
  }

  func note(_ event: GATTServerEvent) {
    guard case .disconnected = event else { return }
    state.withLock { $0.machine.disconnected() }
    parts.wake()
  }

  // MARK: The main loop

  /// Returns the pending notifications, and the time until the next poll; `nil` = after the next
  /// event.
  func poll(at now: LinkInstant) -> (notices: [[UInt8]], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      if let pairingEnd, now >= pairingEnd { state.machine.pairingExpired() }
      var notices = state.machine.notices
      state.machine.notices.removeAll()
      if isNonsense {
        notices = notices.map { _ in
          state.random.bytes(count: Int.random(in: 1...20, using: &state.random))
        }
      }
      // A reset ends all work immediately.
      state.isOver = state.machine.request != nil
      guard let pairingEnd, !state.isOver else { return (notices, nil) }
      return (notices, now.duration(to: pairingEnd))
    }
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.machine.queue.running } }

  func flashDone(_ isDone: Bool) { state.withLock { $0.machine.flashDone(isDone) } }

  var request: MicrobitMachine.Request? { state.withLock { $0.machine.request } }

  /// The reason why the boot ends; `nil` while it continues.
  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      if case .activate = state.machine.request { return .activated }
      return .reset
    }
  }
}
