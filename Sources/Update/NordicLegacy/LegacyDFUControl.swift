import OtaflashATT
import OtaflashGATT

/// The Control Point and the Packet characteristic of legacy DFU on one connection.
struct LegacyDFUControl: Sendable {
  let client: GATTClient
  let controlPoint: DiscoveredCharacteristic
  let packet: DiscoveredCharacteristic
  let notices: NotificationStream
  let clock: any LinkClock

  static func open(
    on client: GATTClient, clock: any LinkClock
  ) async throws(UpdateFault) -> LegacyDFUControl {
    do throws(GATTFault) {
      let controlPoint = try await client.characteristic(
        LegacyDFU.controlPoint, in: LegacyDFU.service)
      return LegacyDFUControl(
        client: client, controlPoint: controlPoint,
        packet: try await client.characteristic(LegacyDFU.packet, in: LegacyDFU.service),
        notices: try await client.subscribe(to: controlPoint, as: .notifications), clock: clock)
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(.connect, .updatesNotPermitted)
    } catch {
      throw .gatt(.connect, error)
    }
  }

  func write(_ request: LegacyDFURequest, _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.write(request.encoded, to: controlPoint)
    } catch .refused(_, .insufficientAuthorization) {
      throw .declined(stage, .updatesNotPermitted)
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Writes one packet, and returns when the transport has accepted it.
  func send(_ bytes: ArraySlice<UInt8>, _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.command(encoded: ATTPDU.encodeWriteCommand(packet.value, bytes: bytes))
    } catch {
      throw .gatt(stage, error)
    }
  }

  /// Waits for the response to a request, and skips receipts in flight.
  ///
  /// - Throws: `.gatt(_, .transactionTimedOut)` if there is no response within `limit`.
  func status(
    of opcode: LegacyDFUOpcode, _ stage: UpdateStage, within limit: Duration
  ) async throws(UpdateFault) -> LegacyDFUStatus {
    let deadline = clock.now.advanced(by: limit)
    return try await withDeadline(deadline, on: clock, orThrow: .gatt(stage, .transactionTimedOut))
    { () async throws(UpdateFault) -> LegacyDFUStatus in
      while true {
        guard case .answer(let answered, let status) = try await next(stage) else { continue }
        // This is a late response to an earlier request: a device keeps its state after a lost
        // link.
        if answered.rawValue < opcode.rawValue || answered == .reportReceived { continue }
        guard answered == opcode else {
          throw .protocolViolation(stage, "\(opcode) was answered as \(answered)")
        }
        return status
      }
    }
  }

  /// Discards the queued notifications, so that none of them counts as the response to the next
  /// request.
  func forget() {
    while notices.poll() != nil {}
  }

  func next(_ stage: UpdateStage) async throws(UpdateFault) -> LegacyDFUNotice {
    let received: NotificationStream.Element?
    do throws(GATTFault) { received = try await notices.next() } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return try Self.decode(received, stage)
  }

  /// Returns the next notification in the queue without waiting; `nil` if the queue is empty.
  func poll(_ stage: UpdateStage) throws(UpdateFault) -> LegacyDFUNotice? {
    guard let received = notices.poll() else { return nil }
    return try Self.decode(received, stage)
  }

  private static func decode(
    _ received: NotificationStream.Element, _ stage: UpdateStage
  ) throws(UpdateFault) -> LegacyDFUNotice {
    do throws(DFUDecodeFault) { return try LegacyDFUNotice(decoding: received.value) } catch {
      throw .protocolViolation(stage, error.description)
    }
  }
}
