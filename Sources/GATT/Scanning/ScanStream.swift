import Synchronization

/// A stream of elements from a callback, with `ScanFault` as its failure. A custom scanner or
/// adapter monitor can use this type as its sequence.
///
/// ```swift
/// ScanStream { continuation in
///   let scan = system.startScan { device in continuation.yield(device) }
///   continuation.onTermination { scan.stop() }
/// }
/// ```
///
/// Each iterator starts a separate run with its first `next`, and ends the run when the iterator is
/// released or its task is cancelled.
public struct ScanStream<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = ScanFault

  private let capacity: Int
  private let start: @Sendable (Continuation) -> Void

  /// - Parameters:
  ///   - capacity: the number of elements kept for a slow reader, 1 or more; the oldest elements
  ///     are dropped.
  ///   - start: starts a run that reports to the continuation. The closure must return quickly.
  public init(
    buffering capacity: Int = 256, _ start: @escaping @Sendable (Continuation) -> Void
  ) {
    precondition(capacity >= 1, "a stream keeps one element or more")
    self.capacity = capacity
    self.start = start
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

  /// The producer's end of one run. May be used from any thread.
  public struct Continuation: Sendable {
    fileprivate let run: Run

    /// Adds an element. Has no effect after the run has ended.
    public func yield(_ element: Element) { run.elements.push(element) }

    /// Ends the run: the reader receives the queued elements and then the fault; `nil` ends the run
    /// without a fault.
    public func finish(throwing fault: ScanFault? = nil) { run.finish(fault) }

    /// Calls `action` once when the run ends, for any reason; immediately if the run has already
    /// ended.
    public func onTermination(_ action: @escaping @Sendable () -> Void) {
      run.onTermination(action)
    }
  }

  fileprivate final class Run: Sendable {
    private struct State {
      var isFinished = false
      var fault: ScanFault?
      var actions: [@Sendable () -> Void] = []
    }

    let elements: Mailbox<Element>
    private let state = Mutex(State())

    init(capacity: Int) { elements = Mailbox(capacity: capacity) }

    var fault: ScanFault? { state.withLock { $0.fault } }

    func finish(_ fault: ScanFault?) {
      let actions = state.withLock { state -> [@Sendable () -> Void] in
        guard !state.isFinished else { return [] }
        state.isFinished = true
        state.fault = fault
        defer { state.actions = [] }
        return state.actions
      }
      elements.finish()
      for action in actions { action() }
    }

    func onTermination(_ action: @escaping @Sendable () -> Void) {
      let isFinished = state.withLock { state in
        if !state.isFinished { state.actions.append(action) }
        return state.isFinished
      }
      if isFinished { action() }
    }
  }

  /// Ends the run when the iterator that holds this object is released.
  fileprivate final class Reader: Sendable {
    let run: Run
    init(_ run: Run) { self.run = run }
    deinit { run.finish(nil) }
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private let stream: ScanStream
    private var reader: Reader?

    fileprivate init(stream: ScanStream) { self.stream = stream }

    public mutating func next() async throws(ScanFault) -> Element? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ScanFault) -> Element? {
      let run = started()
      if let element = await run.elements.next() { return element }
      if Task.isCancelled {
        run.finish(nil)
        throw .cancelled
      }
      if let fault = run.fault { throw fault }
      return nil
    }

    private mutating func started() -> Run {
      if let reader { return reader.run }
      let run = Run(capacity: stream.capacity)
      reader = Reader(run)
      stream.start(Continuation(run: run))
      return run
    }
  }
}
