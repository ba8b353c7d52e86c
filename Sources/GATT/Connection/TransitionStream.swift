/// The steps of a connection, in order.
public struct TransitionStream: AsyncSequence, Sendable {
  public struct AsyncIterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<ConnectionTransition>

    public mutating func next() async -> ConnectionTransition? { await mailbox.next() }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> ConnectionTransition? { await mailbox.next() }
  }

  let mailbox: Mailbox<ConnectionTransition>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: mailbox) }
}
