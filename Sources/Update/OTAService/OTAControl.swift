import OtaflashATT
import OtaflashGATT
import OtaflashWire

/// Performs control operations, one at a time: each is a Write Request and one indication
/// (docs/ota-service.md, 4).
struct OTAControl: Sendable {
  /// The time between two attempts while the device is busy with the previous operation.
  private static let busyPause = Duration.milliseconds(100)

  let client: GATTClient
  let characteristic: DiscoveredCharacteristic
  let answers: NotificationStream
  let clock: any LinkClock
  let limit: Duration

  /// Performs an operation, and returns the payload of the answer.
  ///
  /// - Throws: `.declined` with the device's refusal, `.gatt` for a failure of the link,
  ///   `.protocolViolation`.
  func perform(
    _ request: OTARequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> [UInt8] {
    try payload(of: try await exchange(request, stage), stage)
  }

  /// Performs an operation, and returns the answer regardless of its result.
  ///
  /// - Parameter ownLimit: the time limit of an operation that may take longer than other
  ///   operations.
  func exchange(
    _ request: OTARequest, _ stage: UpdateStage, within ownLimit: Duration? = nil
  ) async throws(UpdateFault) -> OTAAnswer {
    let limit = ownLimit ?? self.limit
    // A late answer to an earlier operation must not be mistaken for the answer to this operation.
    while answers.poll() != nil {}
    let deadline = clock.now.advanced(by: limit)
    let timeout = UpdateFault.gatt(stage, .timedOut(after: limit))
    return try await withDeadline(deadline, on: clock, orThrow: timeout) {
      () async throws(UpdateFault) -> OTAAnswer in
      try await write(request, stage)
      let received: NotificationStream.Element?
      do throws(GATTFault) { received = try await answers.next() } catch {
        throw .gatt(stage, error)
      }
      guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
      return try decoding(stage) { () throws(OTADecodeFault) -> OTAAnswer in
        let answer = try OTAAnswer(decoding: received.value)
        guard answer.opcode == request.opcode | 0x80 else {
          throw .wrongAnswer(expected: request.opcode, got: answer.opcode)
        }
        return answer
      }
    }
  }

  /// Returns the payload of an answer with the result "done".
  ///
  /// - Throws: `.declined` or `.protocolViolation` for another result.
  func payload(of answer: OTAAnswer, _ stage: UpdateStage) throws(UpdateFault) -> [UInt8] {
    if answer.result == 0 { return answer.payload }
    guard let refusal = OTARefusal(rawValue: answer.result) else {
      throw .protocolViolation(stage, "it answered with the undefined result \(answer.result)")
    }
    throw .declined(stage, refusal.inWords)
  }

  /// Repeats the write while the device is busy, until success or the caller's deadline.
  private func write(_ request: OTARequest, _ stage: UpdateStage) async throws(UpdateFault) {
    while true {
      do throws(GATTFault) {
        return try await client.write(request.encoded, to: characteristic)
      } catch .refused(_, OTAService.busy) {
        guard await clock.pause(for: Self.busyPause) else { throw .gatt(stage, .cancelled) }
      } catch {
        throw .gatt(stage, error)
      }
    }
  }

  // MARK: Operations with a payload

  func info() async throws(UpdateFault) -> OTAInfo {
    let answer = try await exchange(.info(hostVersion: OTAService.protocolVersion), .connect)
    if answer.result == OTARefusal.versionNotSupported.rawValue {
      let (lowest, highest) = try decoding(.connect) {
        () throws(OTADecodeFault) -> (UInt8, UInt8) in
        var reader = ByteReader(answer.payload, of: "INFO")
        return (try reader.uint8(), try reader.uint8())
      }
      throw .unsupportedProtocolVersion(deviceLowest: Int(lowest), deviceHighest: Int(highest))
    }
    let payload = try payload(of: answer, .connect)
    let info = try decoding(.connect) { () throws(OTADecodeFault) in
      try OTAInfo(decoding: payload)
    }
    guard info.largestChunk > 0, info.pageSize > 0 else {
      throw .protocolViolation(.connect, "its INFO has a chunk or page size of 0")
    }
    return info
  }

  func running(_ stage: UpdateStage) async throws(UpdateFault) -> OTARunning {
    let payload = try await perform(.running, stage)
    return try decoding(stage) { () throws(OTADecodeFault) in try OTARunning(decoding: payload) }
  }

  func resumePoint() async throws(UpdateFault) -> OTAResumePoint {
    let payload = try await perform(.resumePoint, .connect)
    return try decoding(.connect) { () throws(OTADecodeFault) in
      try OTAResumePoint(decoding: payload)
    }
  }

  func challenge() async throws(UpdateFault) -> [UInt8] {
    let payload = try await perform(.challenge, .authorize)
    guard payload.count >= OTAProof.challengeSize else {
      throw .protocolViolation(.authorize, "its challenge has \(payload.count) bytes, not 16")
    }
    return Array(payload.prefix(OTAProof.challengeSize))
  }

  /// Performs BEGIN or REWIND, and returns the resulting progress of the device.
  func position(
    _ request: OTARequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> OTAPosition {
    let payload = try await perform(request, stage)
    return try decoding(stage) { () throws(OTADecodeFault) in try OTAPosition(decoding: payload) }
  }
}
