import OtaflashATT
import OtaflashGATT

/// The characteristics of SUOTA on one connection.
struct SUOTAChannel: Sendable {
  /// The length of PATCH_DATA that every device accepts.
  private static let dataMinimum = 20
  private static let dataMaximum = 509

  let client: GATTClient
  let clock: any LinkClock
  let statuses: NotificationStream
  private let memoryDevice: DiscoveredCharacteristic
  private let pins: DiscoveredCharacteristic?
  private let memoryInfo: DiscoveredCharacteristic?
  private let patchLength: DiscoveredCharacteristic
  private let patchData: DiscoveredCharacteristic
  private let status: DiscoveredCharacteristic
  /// The version of the service: 13 = 1.3; 10 if the device does not report it.
  let version: Int
  /// The longest PATCH_DATA in bytes.
  let dataSize: Int
  /// The services of the device.
  let services: [BluetoothUUID]

  /// Returns the service and its characteristics; `nil` if the device does not have the
  /// characteristics of a transfer.
  static func attributes(
    on client: GATTClient
  ) async throws(GATTFault) -> (SUOTAUUIDs, [DiscoveredCharacteristic])? {
    for service in try await client.services() {
      guard let uuids = SUOTAUUIDs.all.first(where: { $0.service == service.uuid }) else {
        continue
      }
      let found = try await client.characteristics(of: service)
      let needed = [uuids.memoryDevice, uuids.patchLength, uuids.patchData, uuids.status]
      if needed.allSatisfy({ uuid in found.contains { $0.uuid == uuid } }) { return (uuids, found) }
    }
    return nil
  }

  /// Subscribes, and reads the version and the longest PATCH_DATA. Returns `nil` if the device does
  /// not have the service.
  static func open(
    on client: GATTClient, clock: any LinkClock
  ) async throws(GATTFault) -> SUOTAChannel? {
    guard let (uuids, found) = try await attributes(on: client) else { return nil }
    func characteristic(_ uuid: BluetoothUUID) -> DiscoveredCharacteristic? {
      found.first { $0.uuid == uuid }
    }
    guard let memoryDevice = characteristic(uuids.memoryDevice),
      let patchLength = characteristic(uuids.patchLength),
      let patchData = characteristic(uuids.patchData), let status = characteristic(uuids.status)
    else { return nil }
    let version = try await number(characteristic(uuids.version), on: client)
    let size = try await number(characteristic(uuids.dataSize), on: client)
    return SUOTAChannel(
      client: client, clock: clock,
      statuses: try await client.subscribe(to: status, as: .notifications),
      memoryDevice: memoryDevice, pins: characteristic(uuids.pins),
      memoryInfo: characteristic(uuids.memoryInfo), patchLength: patchLength,
      patchData: patchData, status: status, version: version ?? 10,
      dataSize: min(max(size ?? 0, dataMinimum), dataMaximum),
      services: try await client.services().map(\.uuid))
  }

  /// Reads a number of 1 to 4 bytes; `nil` if the device does not report it.
  private static func number(
    _ characteristic: DiscoveredCharacteristic?, on client: GATTClient
  ) async throws(GATTFault) -> Int? {
    guard let characteristic else { return nil }
    do throws(GATTFault) {
      let bytes = try await client.read(characteristic)
      guard (1...4).contains(bytes.count) else { return nil }
      return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    } catch {
      switch error {
      case .notPermitted, .refused: return nil
      default: throw error
      }
    }
  }

  // MARK: Requests

  func write(_ command: SUOTACommand) async throws(GATTFault) {
    try await client.write(command.encoded, to: memoryDevice)
  }

  func write(pins value: UInt32) async throws(GATTFault) {
    guard let pins else { return }
    try await client.write(SUOTACommand.bytes(value), to: pins)
  }

  func write(length: Int) async throws(GATTFault) {
    let bytes = [UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
    try await client.write(bytes, to: patchLength)
  }

  // MARK: Data

  var hasCommands: Bool { patchData.properties.contains(.writeWithoutResponse) }

  /// Sends the packets that `next` returns, until it returns `nil`.
  func sendPackets(
    _ next: () -> ArraySlice<UInt8>?, afterWait: (Duration) -> Void
  ) async throws(GATTFault) {
    guard hasCommands else {
      while let packet = next() { try await client.write(Array(packet), to: patchData) }
      return
    }
    try await client.sendCommands(
      { pdu in
        guard let packet = next() else { return false }
        ATTPDU.encodeWriteCommand(patchData.value, bytes: packet, into: &pdu)
        return true
      }, afterWait: afterWait)
  }

  // MARK: Status

  /// Returns the next notification in the queue without waiting; `nil` if the queue is empty.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> SUOTAStatus? {
    guard let received = statuses.poll() else { return nil }
    return try Self.decoded(received.value, stage)
  }

  private static func decoded(
    _ value: [UInt8], _ stage: UpdateStage
  ) throws(UpdateFault) -> SUOTAStatus {
    try decoding(stage) { () throws(SUOTADecodeFault) in try SUOTAStatus(decoding: value) }
  }

  /// Waits for the next notification; returns `nil` if none arrives within `limit`.
  func next(_ stage: UpdateStage, within limit: Duration) async throws(UpdateFault) -> SUOTAStatus?
  {
    let received: NotificationStream.Element?
    do throws(GATTFault) {
      received = try await withDeadline(
        clock.now.advanced(by: limit), on: clock, orThrow: .timedOut(after: limit)
      ) { () async throws(GATTFault) -> NotificationStream.Element? in try await statuses.next() }
    } catch .timedOut where client.ended == nil {
      return nil
    } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return try Self.decoded(received.value, stage)
  }

  /// Reads the last status, whose notification may be lost; `nil` if it cannot be read.
  func lastStatus() async throws(GATTFault) -> SUOTAStatus? {
    guard status.properties.contains(.read) else { return nil }
    return try await Self.number(status, on: client).flatMap {
      UInt8(exactly: $0).map(SUOTAStatus.init)
    }
  }

  /// Reads the number of received bytes; `nil` if it cannot be read.
  func receivedBytes() async throws(GATTFault) -> Int? {
    try await Self.number(memoryInfo, on: client)
  }
}
