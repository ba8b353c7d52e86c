import OtaflashATT
import OtaflashGATT

/// The characteristic of Telink's OTA service on one connection.
struct TelinkChannel: Sendable {
  private static let genericAccess = BluetoothUUID(0x1800)
  private static let deviceName = BluetoothUUID(0x2A00)
  /// The time in which a device ends the link after an error, 4 s, with a margin.
  private static let endLimit = Duration.seconds(6)
  /// The number of reads that measure the connection interval, if the transport does not report it.
  private static let measuredReads = 2

  let client: GATTClient
  let data: DiscoveredCharacteristic
  /// The notifications; `nil` if the characteristic does not notify or has no configuration
  /// descriptor.
  let notices: NotificationStream?
  let clock: any LinkClock
  /// The attribute whose read confirms all writes before it.
  private let readable: AttributeHandle

  /// Returns the characteristic; `nil` if the device does not have it. The service alone does not
  /// identify the protocol.
  static func characteristic(
    on client: GATTClient
  ) async throws(GATTFault) -> DiscoveredCharacteristic? {
    for service in try await client.services() where TelinkOTA.services.contains(service.uuid) {
      let found = try await client.characteristics(of: service).first {
        TelinkOTA.characteristics.contains($0.uuid)
      }
      if let found { return found }
    }
    return nil
  }

  /// Finds the characteristic, and subscribes to it if it notifies; returns `nil` if the device
  /// does not have the characteristic.
  static func open(
    on client: GATTClient, clock: any LinkClock
  ) async throws(GATTFault) -> TelinkChannel? {
    guard let data = try await characteristic(on: client) else { return nil }
    var readable = data.value
    if !data.properties.contains(.read) {
      readable = try await client.characteristic(deviceName, in: genericAccess).value
    }
    return TelinkChannel(
      client: client, data: data, notices: try await subscribe(to: data, on: client), clock: clock,
      readable: readable)
  }

  private static func subscribe(
    to data: DiscoveredCharacteristic, on client: GATTClient
  ) async throws(GATTFault) -> NotificationStream? {
    guard data.properties.contains(.notify) else { return nil }
    do throws(GATTFault) {
      return try await client.subscribe(to: data, as: .notifications)
    } catch .notFound(.clientCharacteristicConfiguration) {
      return nil
    }
  }

  // MARK: Messages

  func send(_ command: TelinkCommand, _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.command(
        encoded: ATTPDU.encodeWriteCommand(data.value, bytes: command.encoded[...]))
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Sends the PDUs that `next` returns, until it returns `nil`.
  func sendPDUs(
    _ next: () -> [UInt8]?, afterWait: (Duration) -> Void
  ) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.sendCommands(
        { pdu in
          guard let value = next() else { return false }
          ATTPDU.encodeWriteCommand(data.value, bytes: value[...], into: &pdu)
          return true
        }, afterWait: afterWait)
    } catch {
      throw .gatt(.upload, error)
    }
  }

  /// Returns the next notification in the queue without waiting; `nil` if the queue is empty.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> TelinkNotice? {
    guard let received = notices?.poll() else { return nil }
    return try decoding(stage) { () throws(TelinkDecodeFault) in
      try TelinkNotice(decoding: received.value)
    }
  }

  /// Waits for the next notification.
  ///
  /// - Throws: `silence` if no notification arrives within `limit`, or if there is no subscription.
  func next(
    _ stage: UpdateStage, within limit: Duration, orThrow silence: UpdateFault
  ) async throws(UpdateFault) -> TelinkNotice {
    guard let notices else { throw silence }
    return try await withDeadline(clock.now.advanced(by: limit), on: clock, orThrow: silence) {
      () async throws(UpdateFault) -> TelinkNotice in
      let received: NotificationStream.Element?
      do throws(GATTFault) { received = try await notices.next() } catch {
        throw .gatt(stage, error)
      }
      guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
      return try decoding(stage) { () throws(TelinkDecodeFault) in
        try TelinkNotice(decoding: received.value)
      }
    }
  }

  // MARK: Confirmations

  /// Sends a read whose response confirms all writes before it; `nil` if another request is open.
  func ask() async throws(UpdateFault) -> PendingRequest? {
    do throws(GATTFault) { return try await client.beginRead(handle: readable) } catch {
      throw .gatt(.upload, error)
    }
  }

  /// Waits until the device has processed all earlier writes.
  func confirm() async throws(GATTFault) { _ = try await client.read(handle: readable) }

  /// Waits until the device has ended the link; returns `false` if it did not.
  func waitForEnd() async -> Bool {
    await client.waitUntilEnded(within: Self.endLimit, on: clock)
  }

  /// Returns the connection interval. If the transport does not report it, the result is half of
  /// the time of the faster of two reads, because a read takes two intervals.
  func connectionInterval() async throws(GATTFault) -> Duration {
    if let known = client.linkFacts.connectionInterval { return known }
    var shortest = Duration.seconds(4)
    for _ in 0..<Self.measuredReads {
      let began = clock.now
      try await confirm()
      shortest = min(shortest, began.duration(to: clock.now))
    }
    return shortest / 2
  }
}
