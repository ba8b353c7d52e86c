import OtaflashATT
import Synchronization

/// The bounded buffer for the values of one subscription. If the reader is slow, the oldest values
/// are dropped and counted, so that a slow reader cannot stall the link or another observer.
package final class NotificationObserver: Sendable {
  private struct State {
    var lost = 0
    var ended: GATTFault?
  }

  private let values: Mailbox<[UInt8]>
  private let state = Mutex(State())

  package init(capacity: Int) { values = Mailbox(capacity: capacity) }

  package func receive(_ value: [UInt8]) {
    let dropped = values.push(value)
    if dropped > 0 { state.withLock { $0.lost += dropped } }
  }

  package func finish(because cause: GATTFault) {
    state.withLock { $0.ended = $0.ended ?? cause }
    values.finish()
  }

  fileprivate func poll() -> NotificationStream.Element? { values.poll().map(wrap) }

  fileprivate func waitForArrival() async { await values.waitForArrival() }

  func next() async throws(GATTFault) -> NotificationStream.Element? {
    if let value = await values.next() { return wrap(value) }
    if let ended = state.withLock({ $0.ended }) { throw ended }
    if Task.isCancelled { throw .cancelled }
    return nil
  }

  private func wrap(_ value: [UInt8]) -> NotificationStream.Element {
    let lost = state.withLock { state in
      defer { state.lost = 0 }
      return state.lost
    }
    return NotificationStream.Element(value: value, lostBefore: lost)
  }
}

/// The notifications or indications of one characteristic, for one subscriber.
///
/// The stream ends by throwing `.linkLost` if the link ended, `.unsubscribed` if the subscription
/// was ended for all subscribers, or `.cancelled` if the reading task was cancelled. Only one task
/// may iterate the stream. Releasing the stream and its iterators ends this subscriber's
/// subscription.
public struct NotificationStream: AsyncSequence, Sendable {
  public struct Element: Equatable, Sendable {
    /// The characteristic's value, as sent.
    public let value: [UInt8]
    /// The number of values that were dropped before this value because the buffer was full.
    public let lostBefore: Int
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let registration: Registration

    public mutating func next() async throws(GATTFault) -> Element? {
      try await registration.observer.next()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(GATTFault) -> Element? {
      try await registration.observer.next()
    }
  }

  /// Removes the observer from the bearer when the last reader is released.
  final class Registration: Sendable {
    let observer: NotificationObserver
    private let bearer: ATTBearer
    private let handle: AttributeHandle

    init(observer: NotificationObserver, bearer: ATTBearer, handle: AttributeHandle) {
      self.observer = observer
      self.bearer = bearer
      self.handle = handle
    }

    deinit { bearer.remove(observer, from: handle) }
  }

  let registration: Registration

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(registration: registration) }

  /// Returns the next value, like an iterator; all iterators share the values of the stream.
  public func next() async throws(GATTFault) -> Element? { try await registration.observer.next() }

  /// Returns the oldest buffered value without waiting; `nil` if the buffer is empty.
  public func poll() -> Element? { registration.observer.poll() }

  /// Waits for a value, the end of the stream, or the cancellation of the task.
  func waitForArrival() async { await registration.observer.waitForArrival() }
}
