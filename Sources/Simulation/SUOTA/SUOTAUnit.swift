import OtaflashATT
import OtaflashGATT
import Synchronization

/// The server of one boot. Safe to use from any task.
final class SUOTAUnit: Sendable {
  private struct State: Sendable {
    var server: SUOTAServer
    /// The time of the reset, set when the server requests the reset.
    var end: LinkInstant?
    var isOver = false
    var random: SeededRandom
  }

  private let parts: BoardParts
  private let settings: SUOTASettings
  private let state: Mutex<State>
  /// Signals the end of flash operations.
  private let flashed = WakeSignal()

  init(_ server: SUOTAServer, with parts: BoardParts, random: SeededRandom) {
    self.parts = parts
    settings = server.settings
    state = Mutex(State(server: server, random: random))
  }

  // MARK: The characteristics

  var memoryDevice: AttributeValue {
    word { value in
      (SUOTAServer.Incoming.memoryDevice(value), isReboot: value >> 24 == 0xFD)
    }
  }

  var pins: AttributeValue { word { (.pins($0), isReboot: false) } }

  private func word(
    _ incoming: @escaping @Sendable (UInt32) -> (SUOTAServer.Incoming, isReboot: Bool)
  ) -> AttributeValue {
    .asynchronous(
      read: { _ in .success([0, 0, 0, 0]) },
      write: { [self] bytes, _ in
        guard bytes.count == 4 else { return wrongLength }
        let (write, isReboot) = incoming(bytes.littleEndianWord(at: 0))
        return await accept(write, isReboot: isReboot)
      })
  }

  var patchLength: AttributeValue {
    .asynchronous(
      read: { [self] _ in
        .success(UInt16(clamping: state.withLock { $0.server.patchLength }).littleEndianBytes)
      },
      write: { [self] bytes, _ in
        guard bytes.count == 2 else { return wrongLength }
        return await accept(.patchLength(Int(bytes.littleEndianHalfword(at: 0))))
      })
  }

  var patchData: AttributeValue {
    .asynchronous(
      read: { _ in .success([]) },
      write: { [self] bytes, context in
        guard bytes.count <= settings.dataSize else { return .invalidAttributeValueLength }
        let isRefused = state.withLock { state in
          state.server.accept(.data(bytes))
          return state.server.refusesData
        }
        parts.wake()
        guard !context.isCommand, settings.chip != .da1453x else { return nil }
        await waitUntilIdle()
        return isRefused ? ATTErrorCode(0x80) : nil
      })
  }

  var memoryInfo: AttributeValue {
    .asynchronous(read: { [self] _ in
      await waitUntilIdle()
      return .success(UInt32(state.withLock { $0.server.memoryInfo }).littleEndianBytes)
    })
  }

  var status: AttributeValue {
    .asynchronous(read: { [self] _ in
      await waitUntilIdle()
      return .success([state.withLock { $0.server.status }])
    })
  }

  private var wrongLength: ATTErrorCode {
    settings.chip == .da1453x ? .invalidAttributeValueLength : ATTErrorCode(0x80)
  }

  /// Processes a write. A stream receiver answers after processing, and ends the link for a restart
  /// without an answer.
  private func accept(
    _ write: SUOTAServer.Incoming, isReboot: Bool = false
  ) async -> ATTErrorCode? {
    state.withLock { $0.server.accept(write) }
    parts.wake()
    guard settings.chip != .da1453x else { return nil }
    await waitUntilIdle()
    while isReboot, !Task.isCancelled { await flashed.wait() }
    return nil
  }

  private func waitUntilIdle() async {
    while !state.withLock({ $0.server.isIdle }), !Task.isCancelled { await flashed.wait() }
  }

  func note(_ event: GATTServerEvent) {
    guard case .disconnected = event else { return }
    state.withLock { $0.server.disconnected() }
    flashed.signal()
    parts.wake()
  }

  // MARK: The main loop

  /// Returns the pending notifications, and the time until the next poll; `nil` = after the next
  /// event.
  func poll(at now: LinkInstant) -> (notices: [[UInt8]], wait: Duration?) {
    let isNonsense = parts.settings.faults.contains(.nonsense)
    return state.withLock { state in
      var notices = state.server.notices.map { [$0] }
      state.server.notices.removeAll()
      if isNonsense {
        notices = notices.map { _ in
          state.random.bytes(count: Int.random(in: 1...20, using: &state.random))
        }
      }
      guard state.server.request != nil, state.server.queue.isIdle else { return (notices, nil) }
      let end = state.end ?? now.advanced(by: parts.answerTime)
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
      return state.server.request == .activate ? .activated : .reset
    }
  }
}
