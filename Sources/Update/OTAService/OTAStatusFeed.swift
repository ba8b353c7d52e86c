import OtaflashATT
import OtaflashGATT

/// The Status characteristic of one connection: its notifications, and its value when read.
struct OTAStatusFeed: Sendable {
  let client: GATTClient
  let characteristic: DiscoveredCharacteristic
  let notifications: NotificationStream
  let context: UpdateContext

  /// Returns the next notified value in the queue.
  func poll() -> [UInt8]? { notifications.poll()?.value }

  /// Drops the notifications in the queue.
  func discard() { while notifications.poll() != nil {} }

  /// Reads Status. The answer reflects all earlier writes, because an ATT bearer preserves the
  /// order of PDUs.
  func read() async throws(UpdateFault) -> OTAStatus {
    let value: [UInt8]
    do throws(GATTFault) { value = try await client.read(characteristic) } catch {
      throw .gatt(.upload, error)
    }
    // Notifications that arrived before the answer are older than the answer.
    discard()
    return try Self.decode(value)
  }

  /// Returns the next notified Status; `nil` if none arrives within `UpdateOptions.silenceLimit`.
  func next() async throws(UpdateFault) -> OTAStatus? {
    let limit = context.options.silenceLimit
    let notified: NotificationStream.Element?
    do throws(GATTFault) {
      notified = try await withDeadline(
        context.clock.now.advanced(by: limit), on: context.clock, orThrow: .timedOut(after: limit)
      ) { () async throws(GATTFault) -> NotificationStream.Element? in
        try await notifications.next()
      }
    } catch .timedOut {
      return nil
    } catch {
      throw .gatt(.upload, error)
    }
    guard let notified else { throw .gatt(.upload, .linkLost(.closedLocally)) }
    return try Self.decode(notified.value)
  }

  static func decode(_ value: [UInt8]) throws(UpdateFault) -> OTAStatus {
    try decoding(.upload) { () throws(OTADecodeFault) in try OTAStatus(decoding: value) }
  }
}
