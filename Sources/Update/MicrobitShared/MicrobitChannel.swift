import OtaflashATT
import OtaflashGATT

/// The characteristic of the Partial Flashing Service on one connection.
struct MicrobitChannel: Sendable {
  /// The time in which a device answers a request, and the maximum number of times that the host
  /// sends the request.
  private static let answerLimit = Duration.seconds(3)
  private static let requestsMaximum = 3
  /// The number of connection intervals by which the limit is longer: the device answers after two
  /// intervals, or later if packets are lost.
  private static let answerIntervals = 8

  let client: GATTClient
  let control: DiscoveredCharacteristic
  let notices: NotificationStream
  let clock: any LinkClock

  /// Finds the characteristic, and subscribes to it. Returns `nil` if the device does not have the
  /// characteristic.
  static func open(
    on client: GATTClient, clock: any LinkClock
  ) async throws(GATTFault) -> MicrobitChannel? {
    let control: DiscoveredCharacteristic
    do throws(GATTFault) {
      control = try await client.characteristic(
        MicrobitService.control, in: MicrobitService.service)
    } catch .notFound {
      return nil
    }
    return MicrobitChannel(
      client: client, control: control,
      notices: try await client.subscribe(to: control, as: .notifications), clock: clock)
  }

  /// Returns the time limit for an answer.
  ///
  /// - Parameter work: the time that the device needs for its work before it answers.
  func limit(work: Duration = .zero) -> Duration {
    let interval = client.linkFacts.connectionInterval ?? .zero
    return Self.answerLimit + interval * Self.answerIntervals + work
  }

  // MARK: Messages

  func send(_ command: MicrobitCommand, _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.command(
        encoded: ATTPDU.encodeWriteCommand(control.value, bytes: command.encoded[...]))
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Waits for the next notification; returns `nil` if none arrives within `limit`.
  func next(
    _ stage: UpdateStage, within limit: Duration
  ) async throws(UpdateFault) -> MicrobitNotice? {
    let silence = UpdateFault.gatt(stage, .timedOut(after: limit))
    do throws(UpdateFault) {
      return try await withDeadline(clock.now.advanced(by: limit), on: clock, orThrow: silence) {
        () async throws(UpdateFault) -> MicrobitNotice in
        let received: NotificationStream.Element?
        do throws(GATTFault) { received = try await notices.next() } catch {
          throw .gatt(stage, error)
        }
        guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
        return try decoding(stage) { () throws(MicrobitDecodeFault) in
          try MicrobitNotice(decoding: received.value)
        }
      }
    } catch silence {
      return nil
    }
  }

  /// Removes all notifications that have arrived.
  func discardNotices() { while notices.poll() != nil {} }

  // MARK: Requests

  func status(_ stage: UpdateStage) async throws(UpdateFault) -> MicrobitMode {
    try await answer(to: .status, stage) {
      if case .status(_, let mode) = $0 { mode } else { nil }
    }
  }

  func region(
    _ id: MicrobitRegionID, _ stage: UpdateStage
  ) async throws(UpdateFault) -> MicrobitRegion {
    try await answer(to: .region(id), stage) {
      if case .region(id.rawValue, let region) = $0 { region } else { nil }
    }
  }

  /// Sends a request up to three times, until the device answers. Other notifications are ignored,
  /// because they may be late answers to earlier requests.
  private func answer<Value: Sendable>(
    to request: MicrobitCommand, _ stage: UpdateStage, _ read: (MicrobitNotice) -> Value?
  ) async throws(UpdateFault) -> Value {
    for _ in 0..<Self.requestsMaximum {
      try await send(request, stage)
      let deadline = clock.now.advanced(by: limit())
      while clock.now < deadline {
        let left = clock.now.duration(to: deadline)
        guard let notice = try await next(stage, within: left) else { break }
        if let value = read(notice) { return value }
      }
    }
    throw .declined(stage, .microbitSilent)
  }
}
