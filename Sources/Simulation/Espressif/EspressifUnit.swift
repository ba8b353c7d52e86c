import OtaflashATT
import OtaflashGATT

/// The receiver of one boot with its timers. Safe to use from any task.
final class EspressifUnit: Sendable {
  private struct State: Sendable {
    var receiver: EspressifReceiver
    /// The characteristics that a host has subscribed to since the boot: ble_ota on NimBLE keeps
    /// the subscriptions after the end of a connection.
    var everSubscribed: Set<AttributeHandle> = []
    var isConnected = false
    var end: LinkInstant?
    var isOver = false
    var disconnection: LinkInstant?
    var random: SeededRandom
  }

  private let parts: BoardParts
  private let state: Shared<State>
  /// Signals that the task of the Bluetooth host may continue.
  private let unblocked = WakeSignal()

  init(_ receiver: EspressifReceiver, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    state = Shared(State(receiver: receiver, random: random))
  }

  // MARK: The two characteristics

  var firmware: AttributeValue {
    .asynchronous(write: { [self] bytes, _ in
      await handled { $0.firmwareWritten(bytes) }
    })
  }

  var command: AttributeValue {
    .asynchronous(write: { [self] bytes, _ in
      await handled { $0.commandWritten(bytes) }
    })
  }

  /// Handles a write on the task of the Bluetooth host, which may wait for the flash before and
  /// after it.
  private func handled(
    _ body: @Sendable (inout EspressifReceiver) -> ATTErrorCode?
  ) async -> ATTErrorCode? {
    await waitUntilUnblocked()
    let code = state.withLock { state in
      state.receiver.block == nil ? body(&state.receiver) : nil
    }
    parts.wake()
    await waitUntilUnblocked()
    return code
  }

  private func waitUntilUnblocked() async {
    while state.withLock({ $0.receiver.block != nil }), !Task.isCancelled { await unblocked.wait() }
  }

  func note(_ event: GATTServerEvent) {
    state.withLock { state in
      switch event {
      case .connected:
        (state.isConnected, state.disconnection) = (true, nil)
      case .configured(_, let handle, _): state.everSubscribed.insert(handle)
      case .disconnected:
        (state.isConnected, state.disconnection) = (false, parts.clock.now)
        state.receiver.disconnected()
      case .mtuChanged, .confirmed: break
      }
    }
    parts.wake()
  }

  func hasSubscribed(to handle: AttributeHandle) -> Bool {
    state.withLock { $0.everSubscribed.contains(handle) }
  }

  // MARK: The main loop

  /// Returns the pending answers, and the time until the next poll; `nil` = after the next event.
  func poll(at now: LinkInstant) -> (answers: [EspressifReceiver.Answer], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      var answers = state.receiver.answers
      state.receiver.answers.removeAll()
      if isNonsense {
        answers = answers.map { answer in
          let bytes = state.random.bytes(count: Int.random(in: 1...20, using: &state.random))
          return switch answer {
          case .command: .command(bytes)
          case .firmware: .firmware(bytes)
          }
        }
      }
      return (answers, timeLeft(in: &state, at: now))
    }
  }

  private func timeLeft(in state: inout sending State, at now: LinkInstant) -> Duration? {
    if state.receiver.hasCrashed {
      state.isOver = true
      return nil
    }
    if let restart = state.receiver.restart {
      let end = state.end ?? now.advanced(by: restart.delay + parts.answerTime)
      state.end = end
      state.isOver = now >= end
      return state.isOver ? nil : now.duration(to: end)
    }
    guard state.receiver.isKeeping, let since = state.disconnection else { return nil }
    let deadline = since.advanced(by: EspressifReceiver.keepLimit)
    guard now >= deadline else { return now.duration(to: deadline) }
    state.receiver.abortNimbleOTA()
    return nil
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.receiver.queue.running } }

  func flashDone(_ isDone: Bool) {
    state.withLock { $0.receiver.flashDone(isDone) }
    unblocked.signal()
  }

  /// The reason why the boot ends; `nil` while it continues.
  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      return state.receiver.restart != nil ? .activated : .reset
    }
  }
}
