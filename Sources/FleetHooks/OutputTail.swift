#if Fleet
import OtaflashFleet
import Synchronization

/// The end of a command's output, in a limited amount of memory.
final class OutputTail: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var dropped = 0

    mutating func cut(to count: Int) {
      let surplus = bytes.count - count
      guard surplus > 0 else { return }
      bytes.removeFirst(surplus)
      dropped += surplus
    }
  }

  private static let maximum = HookOutcome.outputMaximum

  private let state = Mutex(State())

  func append(_ part: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.bytes += part
      // The output is truncated only occasionally, because each cut moves the remaining bytes.
      if state.bytes.count > 4 * Self.maximum { state.cut(to: Self.maximum) }
    }
  }

  /// The stored output as text, and the number of bytes dropped before it.
  var text: (output: String, dropped: Int) {
    state.withLock { state in
      state.cut(to: Self.maximum)
      // The rest of a truncated character is also dropped.
      let half = state.dropped == 0 ? 0 : state.bytes.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count
      return (String(decoding: state.bytes.dropFirst(half), as: UTF8.self), state.dropped + half)
    }
  }
}
#endif
