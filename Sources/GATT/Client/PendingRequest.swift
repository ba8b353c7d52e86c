import OtaflashATT

/// The recipient of the response to the open request.
enum ResponseRecipient: Equatable {
  /// A caller that waits only for the response.
  case waiting(ATTBearer.Answer)
  /// A caller that continues with other work before it reads the response.
  case later(ATTBearer.Responses)

  func take(_ result: Result<ATTResponse, GATTFault>) {
    switch self {
    case .waiting(let answer): answer.fulfil(result)
    case .later(let responses): responses.offer(result)
    }
  }

  static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.waiting(let one), .waiting(let other)): one === other
    case (.later(let one), .later(let other)): one === other
    case (.waiting, .later), (.later, .waiting): false
    }
  }
}

/// A Write Request or a Read Request that was sent, whose sender continues with Write Commands: an
/// open request does not block them (Core 5.4, Vol 3, Part F, 3.3.2). A server processes the PDUs
/// of a connection in order, so the response also shows that it has processed all commands before
/// the request.
package struct PendingRequest: Sendable {
  private let answer: ATTOpcode
  private let responses: ATTBearer.Responses
  private let bearer: ATTBearer

  /// - Parameter answer: the type of the response.
  init(_ answer: ATTOpcode, _ responses: ATTBearer.Responses, on bearer: ATTBearer) {
    self.answer = answer
    self.responses = responses
    self.bearer = bearer
  }

  /// Returns the outcome in the first call after its arrival, and `nil` in all other calls.
  package func poll() -> Result<Void, GATTFault>? {
    switch responses.poll() {
    case nil: nil
    case .success(.read) where answer == .readResponse: .success(())
    case .success(.write) where answer == .writeResponse: .success(())
    case .success(let other): .failure(.mismatched(other))
    case .failure(let fault): .failure(fault)
    }
  }

  /// Waits until the outcome or a value in `values` is available; consumes neither the outcome nor
  /// the value. The transaction timeout limits the wait.
  ///
  /// - Throws: `.cancelled`.
  package func arrival(orOf values: NotificationStream? = nil) async throws(GATTFault) {
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
  /// Sends a Write Request that the caller has encoded, if no other request is open. Returns when
  /// the transport has accepted the request; returns `nil` if nothing was sent. A refusal for lack
  /// of security is reported like any other refusal.
  package func beginWrite(
    encoded: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) -> PendingRequest? {
    let responses = ATTBearer.Responses(capacity: 1)
    let isSent = try await bearer.begin(
      encoded, .writeRequest, characteristic.value, for: responses)
    return isSent ? PendingRequest(.writeResponse, responses, on: bearer) : nil
  }

  /// Sends a Read Request, if no other request is open. Returns when the transport has accepted the
  /// request; returns `nil` if nothing was sent.
  package func beginRead(handle: AttributeHandle) async throws(GATTFault) -> PendingRequest? {
    let responses = ATTBearer.Responses(capacity: 1)
    let isSent = try await bearer.begin(
      ATTRequest.read(handle).encoded, .readRequest, handle, for: responses)
    return isSent ? PendingRequest(.readResponse, responses, on: bearer) : nil
  }
}
