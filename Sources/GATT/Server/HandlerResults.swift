import OtaflashATT
import Synchronization

/// The results of the handlers that one PDU calls, in the order of the calls.
///
/// A session is a value and never waits: it stops at an asynchronous handler that has not run. The
/// server awaits the handler, and then the session processes the PDU again from the start. The
/// session does not call the handlers again that have already run.
final class HandlerResults: Sendable {
  typealias Read = Result<[UInt8], ATTErrorCode>

  private struct State {
    var known: [Read] = []
    var position = 0
    var pending: (@Sendable () async -> Void)?
  }

  /// A placeholder for the response after the session has stopped; this value is never sent.
  private static let stopped = Read.failure(.unlikelyError)

  private let state = Mutex(State())

  var pending: (@Sendable () async -> Void)? { state.withLock { $0.pending } }

  /// Starts the processing of a PDU.
  ///
  /// - Parameter isRepeated: whether the PDU of the last call is processed again.
  func start(isRepeated: Bool) {
    state.withLock { state in
      state.position = 0
      state.pending = nil
      if !isRepeated { state.known.removeAll(keepingCapacity: true) }
    }
  }

  func result(_ handler: () -> Read) -> Read {
    next { () -> Read in
      let result = handler()
      add(result)
      return result
    }
  }

  func awaitedResult(_ handler: @escaping @Sendable () async -> Read) -> Read {
    next { () -> Read in
      state.withLock { $0.pending = { self.add(await handler()) } }
      return Self.stopped
    }
  }

  private func add(_ result: Read) { state.withLock { $0.known.append(result) } }

  private func next(_ call: () -> Read) -> Read {
    let known = state.withLock { state -> Read? in
      if state.pending != nil { return Self.stopped }
      defer { state.position += 1 }
      return state.position < state.known.count ? state.known[state.position] : nil
    }
    return known ?? call()
  }
}

extension HandlerResults.Read {
  /// Returns the result of a write: `refusal` as a failure, or an empty value if the write was
  /// accepted.
  static func written(_ refusal: ATTErrorCode?) -> HandlerResults.Read {
    refusal.map { .failure($0) } ?? .success([])
  }
}
