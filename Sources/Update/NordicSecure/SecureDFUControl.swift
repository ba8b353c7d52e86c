import OtaflashATT
import OtaflashGATT

/// Performs operations of the Control Point, one at a time: each is a Write Request and one
/// notification.
struct SecureDFUControl: Sendable {
  /// The time limit for one response. The check of a signature or of the SHA-256 of a complete
  /// image takes a few seconds at most. With the longest connection interval, the request and the
  /// response take 4 s each.
  private static let answerLimit = Duration.seconds(20)
  /// The maximum number of times that an operation without a response is repeated; all operations
  /// are idempotent.
  private static let repeatsMaximum = 2

  let client: GATTClient
  let characteristic: DiscoveredCharacteristic
  let notices: NotificationStream
  let clock: any LinkClock

  // MARK: Operations

  /// Performs an operation whose response has no payload.
  ///
  /// - Throws: `.declined` with the bootloader's refusal, `.gatt` for a fault of the link or a
  ///   missing response, `.protocolViolation`.
  func perform(_ request: SecureDFURequest, _ stage: UpdateStage) async throws(UpdateFault) {
    switch try await exchange(request, stage) {
    case .done: return
    case .refused(_, let refusal): throw .declined(stage, refusal.inWords())
    case .selected, .progress: throw Self.unexpected(request.opcode, stage)
    }
  }

  func select(
    _ type: SecureDFUObjectType, _ stage: UpdateStage
  ) async throws(UpdateFault) -> SecureDFUSelection {
    switch try await exchange(.select(type), stage) {
    case .selected(let selection):
      guard selection.sizeMaximum > 0 else {
        throw .protocolViolation(stage, "its maximum object size is 0 bytes")
      }
      return selection
    case .refused(_, let refusal): throw .declined(stage, refusal.inWords())
    case .done, .progress: throw Self.unexpected(.select, stage)
    }
  }

  func checksum(_ stage: UpdateStage) async throws(UpdateFault) -> SecureDFUProgress {
    switch try await exchange(.checksum, stage) {
    case .progress(let progress): return progress
    case .refused(_, let refusal): throw .declined(stage, refusal.inWords())
    case .done, .selected: throw Self.unexpected(.checksum, stage)
    }
  }

  /// Makes the bootloader restart (SDK 15 and later), without waiting for the restart.
  func abort() async {
    do throws(UpdateFault) {
      try await write(.abort, .prepare)
    } catch {
      // A bootloader that does not receive the request restarts automatically after an idle time.
    }
  }

  static func unexpected(_ opcode: SecureDFUOpcode, _ stage: UpdateStage) -> UpdateFault {
    .protocolViolation(stage, "its answer to \(opcode) has the fields of another answer")
  }

  // MARK: Exchanges

  /// Performs an operation, and returns the response regardless of its result.
  func exchange(
    _ request: SecureDFURequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> SecureDFUResponse {
    for _ in 0...Self.repeatsMaximum {
      // Earlier receipts and late responses must not be mistaken for the response to this
      // operation.
      while notices.poll() != nil {}
      let deadline = clock.now.advanced(by: Self.answerLimit)
      do throws(UpdateFault) {
        return try await withDeadline(deadline, on: clock, orThrow: Self.silence(stage)) {
          () async throws(UpdateFault) -> SecureDFUResponse in
          try await write(request, stage)
          return try await answer(to: request.opcode, stage)
        }
      } catch Self.silence(stage) {
        continue
      }
    }
    // The life cycle reconnects after this fault, and the device may answer on a new connection.
    throw .gatt(stage, .transactionTimedOut)
  }

  private static func silence(_ stage: UpdateStage) -> UpdateFault {
    .gatt(stage, .timedOut(after: answerLimit))
  }

  private func write(
    _ request: SecureDFURequest, _ stage: UpdateStage
  ) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.write(request.encoded, to: characteristic)
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Waits for a response, and skips receipts that are still in flight. The caller sets the
  /// deadline.
  private func answer(
    to opcode: SecureDFUOpcode, _ stage: UpdateStage
  ) async throws(UpdateFault) -> SecureDFUResponse {
    while true {
      let response = try await next(stage)
      if response.opcode == opcode { return response }
      guard response.opcode == .checksum else {
        throw .protocolViolation(stage, "\(opcode) was answered as \(response.opcode)")
      }
    }
  }

  /// Waits for the next notification of any kind, and returns it.
  func next(_ stage: UpdateStage) async throws(UpdateFault) -> SecureDFUResponse {
    let received: NotificationStream.Element?
    do throws(GATTFault) { received = try await notices.next() } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return try Self.decode(received, stage)
  }

  /// Returns the next notification in the queue without waiting; `nil` if the queue is empty.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> SecureDFUResponse? {
    guard let received = notices.poll() else { return nil }
    return try Self.decode(received, stage)
  }

  private static func decode(
    _ received: NotificationStream.Element, _ stage: UpdateStage
  ) throws(UpdateFault) -> SecureDFUResponse {
    do throws(DFUDecodeFault) { return try SecureDFUResponse(decoding: received.value) } catch {
      throw .protocolViolation(stage, error.description)
    }
  }
}
