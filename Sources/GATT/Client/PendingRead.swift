import OtaflashATT

/// A Read Request that was sent, whose sender continues with Write Commands. A server processes the
/// PDUs of a connection in order, so the response shows that it has processed all commands before
/// the request.
package struct PendingRead: Sendable {
  private let responses: ATTBearer.Responses
  private let bearer: ATTBearer

  init(_ responses: ATTBearer.Responses, on bearer: ATTBearer) {
    self.responses = responses
    self.bearer = bearer
  }

  /// Returns the outcome once it is available, and `nil` before and afterwards.
  package func poll() -> Result<Void, GATTFault>? {
    switch responses.poll() {
    case nil: nil
    case .success(.read): .success(())
    case .success(let other): .failure(.mismatched(other))
    case .failure(let fault): .failure(fault)
    }
  }

  /// Waits until the outcome or a value in `values` is available; consumes neither the outcome nor
  /// the value. The transaction timeout limits the wait.
  ///
  /// - Throws: `.cancelled`.
  package func arrival(orOf values: NotificationStream?) async throws(GATTFault) {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await responses.waitForArrival() }
      if let values { group.addTask { await values.waitForArrival() } }
      await group.next()
      group.cancelAll()
    }
    if Task.isCancelled { throw .cancelled }
  }

  /// Stops waiting for the outcome; the response is discarded.
  package func abandon() { bearer.abandon(.later(responses)) }
}

extension GATTClient {
  /// Sends a Read Request, if no other request is open. Returns when the transport has accepted the
  /// request; returns `nil` if nothing was sent.
  package func beginRead(handle: AttributeHandle) async throws(GATTFault) -> PendingRead? {
    let responses = ATTBearer.Responses(capacity: 1)
    let isSent = try await bearer.begin(
      ATTRequest.read(handle).encoded, .readRequest, handle, for: responses)
    return isSent ? PendingRead(responses, on: bearer) : nil
  }
}
