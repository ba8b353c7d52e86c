import OtaflashATT
import OtaflashGATT

/// The characteristics of Espressif's OTA service on one connection.
struct EspressifChannel: Sendable {
  let client: GATTClient
  let firmware: DiscoveredCharacteristic
  let command: DiscoveredCharacteristic
  let hasProgress: Bool
  private let sectorAnswers: NotificationStream
  private let commandAnswers: NotificationStream
  let clock: any LinkClock

  /// Returns the characteristics of the service that has both the firmware and the command
  /// characteristic; `nil` if the device has no such service.
  static func find(
    on client: GATTClient
  ) async throws(GATTFault) -> [DiscoveredCharacteristic]? {
    for service in try await client.services(EspressifOTA.service) {
      let found = try await client.characteristics(of: service)
      let uuids = found.map(\.uuid)
      if uuids.contains(EspressifOTA.firmware), uuids.contains(EspressifOTA.command) {
        return found
      }
    }
    return nil
  }

  /// Subscribes to the answers. Notifications are preferred; some devices accept only the exact
  /// value 0x0002 if a characteristic supports only indications.
  static func open(
    on client: GATTClient, clock: any LinkClock
  ) async throws(UpdateFault) -> EspressifChannel {
    do throws(GATTFault) {
      guard let found = try await find(on: client),
        let firmware = found.first(where: { $0.uuid == EspressifOTA.firmware }),
        let command = found.first(where: { $0.uuid == EspressifOTA.command })
      else { throw GATTFault.notFound(EspressifOTA.command) }
      return EspressifChannel(
        client: client, firmware: firmware, command: command,
        hasProgress: found.contains { $0.uuid == EspressifOTA.progress },
        sectorAnswers: try await client.subscribe(to: firmware),
        commandAnswers: try await client.subscribe(to: command), clock: clock)
    } catch {
      throw .gatt(.connect, error)
    }
  }

  /// Whether the device accepts packets without a response.
  var acceptsCommands: Bool { firmware.properties.contains(.writeWithoutResponse) }

  // MARK: Commands

  /// Writes a command and waits for its answer. Earlier answers are dropped.
  ///
  /// - Parameters:
  ///   - limit: the time limit for the answer.
  ///   - isLong: whether the command may take longer than the 30 s of an ATT transaction. Such a
  ///     command is written without response if the characteristic permits it.
  /// - Throws: `.gatt(_, .timedOut)` if no answer arrives within `limit`.
  func perform(
    _ request: EspressifCommand, _ stage: UpdateStage, within limit: Duration,
    isLong: Bool = false
  ) async throws(UpdateFault) -> EspressifCommandAnswer {
    while commandAnswers.poll() != nil {}
    do throws(GATTFault) {
      if isLong, command.properties.contains(.writeWithoutResponse) {
        try await client.writeWithoutResponse(request.encoded, to: command)
      } else {
        try await client.write(request.encoded, to: command)
      }
    } catch {
      throw .gatt(stage, error)
    }
    return try await withDeadline(
      clock.now.advanced(by: limit), on: clock, orThrow: .gatt(stage, .timedOut(after: limit))
    ) { () async throws(UpdateFault) -> EspressifCommandAnswer in
      while true {
        let value = try await next(commandAnswers, stage)
        let answer = try decoding(stage) { () throws(EspressifDecodeFault) in
          try EspressifCommandAnswer(decoding: value)
        }
        if answer.id == request.id { return answer }
      }
    }
  }

  // MARK: Packets

  /// Writes a packet with response.
  ///
  /// - Returns: `false` if the device refuses the packet with the ATT error Unlikely Error (0x0E).
  func write(_ value: [UInt8], _ stage: UpdateStage) async throws(UpdateFault) -> Bool {
    do throws(GATTFault) {
      try await client.write(encoded: encodedRequest(value), to: firmware)
      return true
    } catch .refused(_, .unlikelyError) {
      return false
    } catch {
      throw .gatt(stage, error)
    }
  }

  private func encodedRequest(_ value: [UInt8]) -> [UInt8] {
    ATTPDU.request(.write(firmware.value, value: value)).encoded
  }

  /// Writes a packet without response; returns when the transport has accepted it.
  func send(_ value: [UInt8], _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.command(
        encoded: ATTPDU.encodeWriteCommand(firmware.value, bytes: value[...]))
    } catch {
      throw .gatt(stage, error)
    }
  }

  // MARK: Answers

  /// Returns the next answer to a sector without waiting; `nil` if no answer has arrived.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> EspressifSectorAnswer? {
    guard let received = sectorAnswers.poll() else { return nil }
    return try Self.decode(received.value, stage)
  }

  /// Waits for the next answer to a sector.
  func answer(_ stage: UpdateStage) async throws(UpdateFault) -> EspressifSectorAnswer {
    try Self.decode(try await next(sectorAnswers, stage), stage)
  }

  /// Waits for the next answer to a sector; returns `nil` after `limit`.
  func answer(
    _ stage: UpdateStage, within limit: Duration
  ) async throws(UpdateFault) -> EspressifSectorAnswer? {
    let silence = UpdateFault.gatt(stage, .timedOut(after: limit))
    do throws(UpdateFault) {
      return try await withDeadline(clock.now.advanced(by: limit), on: clock, orThrow: silence) {
        () async throws(UpdateFault) -> EspressifSectorAnswer in try await answer(stage)
      }
    } catch silence {
      return nil
    }
  }

  private static func decode(
    _ value: [UInt8], _ stage: UpdateStage
  ) throws(UpdateFault) -> EspressifSectorAnswer {
    try decoding(stage) { () throws(EspressifDecodeFault) in
      try EspressifSectorAnswer(decoding: value)
    }
  }

  private func next(
    _ stream: NotificationStream, _ stage: UpdateStage
  ) async throws(UpdateFault) -> [UInt8] {
    let received: NotificationStream.Element?
    do throws(GATTFault) { received = try await stream.next() } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return received.value
  }

  // MARK: The end of the link

  /// Waits until the device ends the link; returns `false` if the link still exists after `limit`.
  func isLost(within limit: Duration) async throws(UpdateFault) -> Bool {
    do throws(UpdateFault) {
      let deadline = clock.now.advanced(by: limit)
      while clock.now < deadline {
        _ = try await answer(.activate, within: clock.now.duration(to: deadline))
      }
      return false
    } catch .gatt(_, .linkLost(let loss)) where loss != .cancelled {
      return true
    }
  }
}
