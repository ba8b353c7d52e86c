import OtaflashATT
import OtaflashGATT

/// The characteristics of TI's OAD service on one connection.
struct OADAttributes: Sendable {
  let identify: DiscoveredCharacteristic
  let block: DiscoveredCharacteristic
  let control: DiscoveredCharacteristic

  /// Finds the characteristics; returns `nil` if the device does not support the protocol. Older
  /// chips use the same service without Control, and another protocol.
  static func find(on client: GATTClient) async throws(GATTFault) -> OADAttributes? {
    for service in try await client.services() where service.uuid == OADOTA.service {
      let found = try await client.characteristics(of: service)
      func first(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
        found.first { $0.uuid == uuid }
      }
      if let identify = first(OADOTA.identify), let block = first(OADOTA.block),
        let control = first(OADOTA.control)
      {
        return OADAttributes(identify: identify, block: block, control: control)
      }
    }
    return nil
  }
}

/// One operation on a characteristic of the service.
struct OADChannel: Sendable {
  /// The time in which a device answers a command that needs no flash.
  private static let answerLimit = Duration.seconds(2)
  /// The maximum number of times that a repeatable command is sent. A device that discards a
  /// transfer also discards the commands that it has not processed yet.
  private static let triesMaximum = 3

  let client: GATTClient
  let attributes: OADAttributes
  private let verdicts: NotificationStream
  private let notices: NotificationStream
  let clock: any LinkClock

  static func open(
    _ attributes: OADAttributes, on client: GATTClient, clock: any LinkClock
  ) async throws(GATTFault) -> OADChannel {
    let verdicts = try await client.subscribe(to: attributes.identify, as: .notifications)
    let notices = try await client.subscribe(to: attributes.control, as: .notifications)
    return OADChannel(
      client: client, attributes: attributes, verdicts: verdicts, notices: notices, clock: clock)
  }

  // MARK: Commands

  func send(_ command: OADCommand, _ stage: UpdateStage) async throws(UpdateFault) {
    try await write(command.encoded, to: attributes.control, stage)
  }

  /// Sends a command that may be repeated, and returns the answer; `nil` if the device does not
  /// answer.
  ///
  /// - Parameter read: returns the value in an answer; `nil` for an answer to another command.
  func ask<Value>(
    _ command: OADCommand, _ stage: UpdateStage, _ read: (OADNotice) -> Value?
  ) async throws(UpdateFault) -> Value? {
    for _ in 0..<Self.triesMaximum {
      try await send(command, stage)
      if let value = try await answer(stage, within: Self.answerLimit, read) { return value }
    }
    return nil
  }

  /// Returns the first matching answer within a time; `nil` without such an answer.
  func answer<Value>(
    _ stage: UpdateStage, within limit: Duration, _ read: (OADNotice) -> Value?
  ) async throws(UpdateFault) -> Value? {
    let deadline = clock.now.advanced(by: limit)
    while let notice = try await next(stage, until: deadline) {
      if let value = read(notice) { return value }
    }
    return nil
  }

  /// Announces an image, and returns the verdict; `nil` if the device does not answer.
  func identify(
    _ announcement: [UInt8], _ stage: UpdateStage, within limit: Duration
  ) async throws(UpdateFault) -> OADStatus? {
    // A verdict of an earlier announcement does not count.
    while verdicts.poll() != nil {}
    try await write(announcement, to: attributes.identify, stage)
    let deadline = clock.now.advanced(by: limit)
    guard let value = try await value(of: verdicts, stage, until: deadline) else { return nil }
    guard let status = value.first else {
      throw .protocolViolation(stage, "it announced its verdict without a status")
    }
    return OADStatus(rawValue: status)
  }

  /// Writes with response if the characteristic permits it.
  private func write(
    _ value: [UInt8], to characteristic: DiscoveredCharacteristic, _ stage: UpdateStage
  ) async throws(UpdateFault) {
    do throws(GATTFault) {
      if characteristic.properties.contains(.write) {
        try await client.write(value, to: characteristic)
      } else {
        try await client.writeWithoutResponse(value, to: characteristic)
      }
    } catch {
      throw .gatt(stage, error)
    }
  }

  // MARK: Blocks

  /// Sends the blocks that `next` returns, until it returns `nil`.
  func sendBlocks(
    _ next: () -> [UInt8]?, afterWait: (Duration) -> Void
  ) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.sendCommands(
        { pdu in
          guard let value = next() else { return false }
          ATTPDU.encodeWriteCommand(attributes.block.value, bytes: value[...], into: &pdu)
          return true
        }, afterWait: afterWait)
    } catch {
      throw .gatt(.upload, error)
    }
  }

  // MARK: Notifications

  /// Returns the next notification of Control without waiting; `nil` without a notification.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> OADNotice? {
    guard let received = notices.poll() else { return nil }
    return try Self.notice(received.value, stage)
  }

  /// Returns the next notification of Control; `nil` if none arrives before the deadline.
  func next(
    _ stage: UpdateStage, until deadline: LinkInstant
  ) async throws(UpdateFault) -> OADNotice? {
    guard let value = try await value(of: notices, stage, until: deadline) else { return nil }
    return try Self.notice(value, stage)
  }

  private static func notice(
    _ value: [UInt8], _ stage: UpdateStage
  ) throws(UpdateFault) -> OADNotice {
    try decoding(stage) { () throws(OADDecodeFault) in try OADNotice(decoding: value) }
  }

  private func value(
    of stream: NotificationStream, _ stage: UpdateStage, until deadline: LinkInstant
  ) async throws(UpdateFault) -> [UInt8]? {
    guard clock.now < deadline else { return nil }
    do throws(GATTFault) {
      return try await withDeadline(
        deadline, on: clock, orThrow: GATTFault.timedOut(after: clock.now.duration(to: deadline))
      ) { () async throws(GATTFault) -> [UInt8] in
        guard let received = try await stream.next() else { throw .linkLost(.closedLocally) }
        return received.value
      }
    } catch .timedOut {
      return nil
    } catch {
      throw .gatt(stage, error)
    }
  }
}
