import OtaflashATT
import OtaflashGATT

/// Operations of the Control Point, one at a time: a Write Request, then one notification.
struct SecureDFUControl: Sendable {
  /// The longest wait for one answer: checking a signature or the SHA-256 of a whole image takes a
  /// few seconds at most, and a link of the longest interval, 4 s, as long for each way.
  private static let answerLimit = Duration.seconds(20)
  /// Times that an operation is asked for again when no answer came: every one of them may be
  /// repeated without harm.
  private static let repeatsMaximum = 2

  let client: GATTClient
  let characteristic: DiscoveredCharacteristic
  let notices: NotificationStream
  let clock: any LinkClock

  // MARK: Operations

  /// Performs an operation whose answer has no payload.
  ///
  /// - Throws: `.declined` in the bootloader's words, `.gatt` for the link, `.protocolViolation`.
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
        throw .protocolViolation(stage, "it takes objects of 0 bytes at most")
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

  /// Makes the bootloader restart (SDK 15 and later). Whether it does is not waited for.
  func abort() async {
    do throws(UpdateFault) {
      try await write(.abort, .prepare)
    } catch {
      // One that was not told restarts by itself when nobody talks to it any more.
    }
  }

  static func unexpected(_ opcode: SecureDFUOpcode, _ stage: UpdateStage) -> UpdateFault {
    .protocolViolation(stage, "its answer to \(opcode) has the fields of another")
  }

  // MARK: Exchanges

  /// Performs an operation and returns its answer, whatever its result.
  func exchange(
    _ request: SecureDFURequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> SecureDFUResponse {
    for _ in 0...Self.repeatsMaximum {
      // What came before, a receipt or an answer too late, is no answer to this.
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
    // A device that says nothing any more is one that another connection may wake.
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

  /// Receipts that are still on their way are passed over; the deadline around it is the bound.
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

  /// The next notification, whatever it belongs to.
  func next(_ stage: UpdateStage) async throws(UpdateFault) -> SecureDFUResponse {
    let received: NotificationStream.Element?
    do throws(GATTFault) { received = try await notices.next() } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return try Self.decode(received, stage)
  }

  /// A notification that is here already.
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
