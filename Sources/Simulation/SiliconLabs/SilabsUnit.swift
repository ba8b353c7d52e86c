import OtaflashATT
import OtaflashGATT
import Synchronization

/// The machine of one boot with its queue of writes and its timers. Safe to use from any task.
final class SilabsUnit<Machine: SilabsMachine>: Sendable {
  private enum Purpose: Sendable {
    case preparation
    /// A write; `isRequest` = a response is due.
    case write(isRequest: Bool, refusal: ATTErrorCode?)
    case ending
  }

  private enum Write {
    case data([UInt8], isRequest: Bool)
    case end
  }

  private struct State: Sendable {
    var machine: Machine
    /// The writes that wait for the flash.
    var waiting: [Write] = []
    var queue = FlashQueue<Purpose>(capacity: 1)
    /// The answer to the open request; `nil` = not known yet.
    var answer: Result<Void, ATTErrorCode>?
    var connected: LinkInstant?
    /// The connection that started the transfer.
    var owner: ConnectionID?
    var lastWrite: LinkInstant
    /// The end of the pause that the machine requested, or of the time for a last response.
    var deadline: LinkInstant?
    var isOver = false
  }

  private let parts: BoardParts
  private let settings: SilabsSettings
  private let answered = WakeSignal()
  private let state: Mutex<State>

  init(_ machine: Machine, _ settings: SilabsSettings, with parts: BoardParts) {
    (self.parts, self.settings) = (parts, settings)
    state = Mutex(State(machine: machine, lastWrite: parts.clock.now))
  }

  // MARK: The two characteristics

  var control: AttributeValue {
    .asynchronous(write: { [self] bytes, context in await written(bytes, context) })
  }

  var data: AttributeValue {
    .asynchronous(write: { [self] bytes, context in
      let isRequest = !context.isCommand
      let refusal = state.withLock { state -> Result<Void, ATTErrorCode>? in
        state.lastWrite = parts.clock.now
        guard state.owner == context.connection else { return .failure(.silabsNotReady) }
        if let refusal = state.machine.dataRefusal { return .failure(refusal) }
        // The device drops commands without a free buffer.
        guard isRequest || state.waiting.count < settings.buffer else { return .success(()) }
        state.answer = nil
        state.waiting.append(.data(bytes, isRequest: isRequest))
        return isRequest ? nil : .success(())
      }
      parts.wake()
      return await code(of: refusal)
    })
  }

  private func written(_ bytes: [UInt8], _ context: AttributeContext) async -> ATTErrorCode? {
    guard bytes.count == 1 else { return .invalidAttributeValueLength }
    let now = parts.clock.now
    let answer = state.withLock { state -> Result<Void, ATTErrorCode>? in
      state.lastWrite = now
      switch bytes[0] {
      case 0x00:
        let age = state.connected?.duration(to: now) ?? .zero
        let (refusal, operations) = state.machine.begin(after: age)
        if let refusal { return .failure(refusal) }
        state.owner = context.connection
        if !operations.isEmpty { offer(operations, for: .preparation, in: &state) }
        return .success(())
      case 0x03:
        guard state.owner == context.connection else { return .failure(.silabsNotReady) }
        state.answer = nil
        state.waiting.append(.end)
        return nil
      case 0x04:
        state.machine.close()
        return .success(())
      default: return .failure(.silabsNotReady)
      }
    }
    parts.wake()
    return await code(of: answer)
  }

  /// Waits for the answer to the open request, if it is not known yet.
  private func code(of known: Result<Void, ATTErrorCode>?) async -> ATTErrorCode? {
    var answer = known
    while answer == nil, !Task.isCancelled {
      await answered.wait()
      answer = state.withLock { $0.answer }
    }
    guard case .failure(let code) = answer ?? .failure(.unlikelyError) else { return nil }
    return code
  }

  func note(_ event: GATTServerEvent) {
    state.withLock { state in
      switch event {
      case .connected:
        state.connected = parts.clock.now
        state.lastWrite = parts.clock.now
      case .disconnected:
        state.waiting.removeAll()
        (state.owner, state.connected) = (nil, nil)
        state.machine.disconnected()
      case .mtuChanged, .configured, .confirmed: break
      }
    }
    parts.wake()
  }

  // MARK: The main loop

  /// Processes the waiting writes until flash operations start. Returns the time until the next
  /// timer expires; `nil` = no timer.
  func poll(at now: LinkInstant) -> Duration? {
    state.withLock { state in
      while state.queue.isIdle, !state.waiting.isEmpty {
        start(state.waiting.removeFirst(), &state)
      }
      return timeLeft(in: &state, at: now)
    }
  }

  private func start(_ write: Write, _ state: inout State) {
    switch write {
    case .data(let bytes, let isRequest):
      let operations = state.machine.take(bytes)
      offer(operations, for: .write(isRequest: isRequest, refusal: nil), in: &state)
    case .end:
      let (refusal, operations) = state.machine.end()
      offer(operations, for: .write(isRequest: true, refusal: refusal), in: &state)
    }
  }

  private func offer(
    _ operations: [FlashOperation], for purpose: Purpose, in state: inout State
  ) {
    guard !operations.isEmpty else { return done(purpose, &state) }
    // A host may start a transfer again while the flash is busy.
    if !state.queue.offer(operations, for: purpose) { done(purpose, &state) }
  }

  private func done(_ purpose: Purpose, _ state: inout State) {
    switch purpose {
    case .preparation: state.machine.prepared()
    case .write(let isRequest, let refusal):
      guard isRequest else { return }
      let code = refusal ?? state.machine.failure
      state.answer = code.map { .failure($0) } ?? .success(())
      answered.signal()
    case .ending: break
    }
  }

  private func timeLeft(in state: inout State, at now: LinkInstant) -> Duration? {
    switch state.machine.request {
    case .reset, .activate:
      guard state.queue.isIdle else { return nil }
      return reached(now.advanced(by: parts.answerTime), in: &state, at: now) { $0.isOver = true }
    case .pause(let time):
      return reached(now.advanced(by: time), in: &state, at: now) { state in
        self.offer(state.machine.paused(), for: .ending, in: &state)
      }
    case nil: break
    }
    guard let limit = settings.inactivity, state.connected != nil, state.queue.isIdle else {
      return nil
    }
    let deadline = state.lastWrite.advanced(by: limit)
    guard now >= deadline else { return now.duration(to: deadline) }
    state.isOver = true
    return nil
  }

  /// Runs `action` when the pending deadline expires; the first call sets the deadline.
  private func reached(
    _ first: LinkInstant, in state: inout State, at now: LinkInstant,
    _ action: (inout State) -> Void
  ) -> Duration? {
    let deadline = state.deadline ?? first
    state.deadline = deadline
    guard now >= deadline else { return now.duration(to: deadline) }
    state.deadline = nil
    action(&state)
    return state.isOver ? nil : .zero
  }

  var pendingOperation: FlashOperation? { state.withLock { $0.queue.running } }

  func flashDone(_ isDone: Bool) {
    state.withLock { state in
      if !isDone { state.machine.flashFailed() }
      if let purpose = state.queue.finishedOne() { done(purpose, &state) }
    }
  }

  /// The reason why the boot ends; `nil` while it continues.
  var ending: BootEnding? {
    state.withLock { state in
      guard state.isOver else { return nil }
      return state.machine.request == .activate ? .activated : .reset
    }
  }
}
