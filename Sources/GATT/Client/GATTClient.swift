import OtaflashATT
import Synchronization

/// The GATT client procedures on one connection (Core 5.4, Vol 3, Part G, 4).
///
/// A client lives as long as its link; a `Peripheral` creates a client for each link. Results of
/// discovery are kept for the connection, and dropped when the server indicates Service Changed.
/// The client subscribes to Service Changed unless `followsServiceChanges` is `false`.
public final class GATTClient: Sendable {
  /// The longest attribute value in bytes (Core 5.4, Vol 3, Part F, 3.2.9).
  public static let attributeValueMaximum = 512
  /// The number of notifications kept for a subscriber that does not read them; the oldest are
  /// dropped first.
  public static let notificationBufferDefault = 256

  struct Cache {
    var services: [DiscoveredService]?
    var characteristics: [HandleRange: [DiscoveredCharacteristic]] = [:]
    var descriptors: [AttributeHandle: [AttributeInformation]] = [:]
    /// The service that contains Service Changed, from its discovery until the subscription;
    /// otherwise `nil`.
    var unwatched: DiscoveredService?
    var changesSeen = 0
  }

  let bearer: ATTBearer
  let cache = Mutex(Cache())
  /// Whether the client subscribes to Service Changed automatically.
  let followsServiceChanges: Bool
  private let observe: @Sendable (GATTClientStep) -> Void

  package init(
    bearer: ATTBearer, followsServiceChanges: Bool = true,
    observe: @escaping @Sendable (GATTClientStep) -> Void = { _ in }
  ) {
    self.bearer = bearer
    self.followsServiceChanges = followsServiceChanges
    self.observe = observe
  }

  func report(_ step: GATTClientStep) { observe(step) }

  /// Reports the failure of a procedure, unless the connection has ended: the connection reports
  /// its failure separately.
  func reportFailure(_ step: GATTClientStep) {
    if bearer.ended == nil { observe(step) }
  }

  /// ATT_MTU in bytes, 23…517.
  public var mtu: Int { bearer.mtu }

  /// The parameters of the radio link that the transport knows.
  public var linkFacts: LinkFacts { bearer.link.facts }

  /// The size of Write Commands in bytes that gives the highest throughput on this link, calculated
  /// from its known parameters (`PDUSizing.bestSize`).
  ///
  /// - Parameters:
  ///   - most: the largest size that the device accepts, in addition to the limit of ATT_MTU.
  ///   - header: bytes of each value that carry no data.
  ///   - unit: each value carries a multiple of this many bytes, if the interval is known.
  ///   - answers: the notifications and responses of the device during the stream.
  package func bestCommandSize(
    atMost most: Int = .max, header: Int = 0, unit: Int = 1, answers: [StreamAnswer] = []
  ) -> Int {
    let facts = linkFacts
    return PDUSizing(facts, isEncrypted: security.contains(.encryption)).bestSize(
      mtu: ATTMTU(clamping: min(mtu, most)), interval: facts.connectionInterval, header: header,
      unit: unit, answers: answers)
  }

  /// The current security of the link.
  public var security: AttributeSecurity { bearer.link.security }

  /// Pairs with the device, or uses the keys of an earlier pairing. Call this function to raise the
  /// security before an attribute requires it; if the device refuses a request for lack of
  /// security, the security is raised automatically.
  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await bearer.raiseSecurity(to: wanted)
  }

  /// The reason the connection ended; `nil` while it exists.
  public var ended: GATTFault? { bearer.ended }

  /// Waits for the end of the connection; returns `false` if the connection still exists after
  /// `limit`.
  package func waitUntilEnded(within limit: Duration, on clock: any LinkClock) async -> Bool {
    let ending = NotificationObserver(capacity: 1)
    do throws(GATTFault) {
      try bearer.add(ending, on: .none)
    } catch {
      return true
    }
    defer { bearer.remove(ending, from: .none) }
    do throws(GATTFault) {
      let deadline = clock.now.advanced(by: limit)
      _ = try await withDeadline(deadline, on: clock, orThrow: .timedOut(after: limit)) {
        () async throws(GATTFault) -> NotificationStream.Element? in try await ending.next()
      }
    } catch .timedOut {
      return false
    } catch {
      return bearer.ended != nil
    }
    return bearer.ended != nil
  }

  /// Exchanges the MTU (Core 5.4, Vol 3, Part F, 3.4.2). The effective MTU is the smaller of the
  /// client's and the server's Rx MTU, or 23 if the server does not support the request. A
  /// connection has only one exchange: a second call sends nothing and returns the current MTU.
  ///
  /// - Parameter desired: the Rx MTU of the client in bytes, 23…517.
  /// - Returns: the effective ATT_MTU in bytes.
  /// - Throws: `.mtuOutOfRange`, and the errors of a request.
  public func requestMTU(_ desired: Int = 512) async throws(GATTFault) -> Int {
    guard let wanted = ATTMTU(bytes: desired) else {
      throw .mtuOutOfRange(desired)
    }
    return try await bearer.exchangeMTU(wanted)
  }

  /// The procedure with which a value is written.
  public enum WriteKind: Sendable, CaseIterable {
    /// Write Request: the device responds to each request (Core 5.4, Vol 3, Part G, 4.9.3).
    case withResponse
    /// Write Command: the device sends no response (Core 5.4, Vol 3, Part G, 4.9.1).
    case withoutResponse
  }

  /// The longest value in bytes that one write PDU of either kind can carry now: ATT_MTU − 3. Send
  /// longer data in parts of this size, unless the device supports long writes. A longer value is
  /// written with response by several Prepare Write requests (4.9.4), which devices without a
  /// prepare queue refuse.
  public var singleWriteLength: Int { mtu - 3 }

  /// The longest value in bytes that a write of this kind accepts now: ATT_MTU − 3 without
  /// response, and 512 with response. With response, a value longer than `singleWriteLength` is a
  /// long write (4.9.4). To send a stream of data, use `singleWriteLength` for both kinds.
  public func maximumWriteValueLength(for kind: WriteKind) -> Int {
    switch kind {
    case .withResponse: Self.attributeValueMaximum
    case .withoutResponse: mtu - 3
    }
  }

  // MARK: Read and write

  /// Reads a value, with Read Blob for a value that exceeds one response (4.8.1, 4.8.3).
  public func read(_ characteristic: DiscoveredCharacteristic) async throws(GATTFault) -> [UInt8] {
    guard characteristic.properties.contains(.read) else {
      throw .notPermitted(characteristic.uuid, needs: "read")
    }
    return try await read(handle: characteristic.value)
  }

  /// Reads any attribute by its handle, including long values.
  public func read(handle: AttributeHandle) async throws(GATTFault) -> [UInt8] {
    do throws(GATTFault) { return try await readParts(of: handle) } catch { throw named(error) }
  }

  private func readParts(of handle: AttributeHandle) async throws(GATTFault) -> [UInt8] {
    var full = mtu - 1
    let response = try await bearer.request(.read(handle), on: handle)
    guard case .read(var value) = response else { throw .mismatched(response) }
    let first = value.count
    var part = value
    // The MTU may change during the read if the peer starts the exchange, so a part that fills a
    // response at either MTU counts as full.
    while part.count >= min(full, mtu - 1) && value.count < Self.attributeValueMaximum {
      full = mtu - 1
      let offset = UInt16(value.count)
      do throws(GATTFault) {
        let response = try await bearer.request(.readBlob(handle, offset: offset), on: handle)
        guard case .readBlob(part: let bytes) = response else { throw .mismatched(response) }
        part = bytes
      } catch .refused(_, .attributeNotLong) where value.count == first {
        return value
      } catch .refused(_, .invalidOffset) where value.count == first {
        return value
      }
      value += part
    }
    guard value.count <= Self.attributeValueMaximum else {
      throw .violation("an attribute has \(value.count) bytes; 512 are permitted")
    }
    return value
  }

  /// Writes a value and waits for the server's response (4.9.3). A value longer than ATT_MTU − 3 is
  /// written in parts (4.9.4).
  public func write(
    _ value: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    guard characteristic.properties.contains(.write) else {
      throw .notPermitted(characteristic.uuid, needs: "write")
    }
    try await write(value, handle: characteristic.value)
  }

  /// Writes any attribute by its handle; a long value is written by Prepare and Execute Write
  /// requests.
  public func write(_ value: [UInt8], handle: AttributeHandle) async throws(GATTFault) {
    guard value.count <= Self.attributeValueMaximum else {
      throw .valueTooLong(bytes: value.count, limit: Self.attributeValueMaximum)
    }
    do throws(GATTFault) {
      guard value.count <= mtu - 3 else { return try await writeLong(value, handle: handle) }
      let response = try await bearer.request(.write(handle, value: value), on: handle)
      guard case .write = response else { throw GATTFault.mismatched(response) }
    } catch {
      throw named(error)
    }
  }

  /// Writes a value in parts (4.9.4). The server echoes each part. If an echo differs or a request
  /// fails, the client cancels all parts.
  private func writeLong(_ value: [UInt8], handle: AttributeHandle) async throws(GATTFault) {
    do throws(GATTFault) {
      for start in stride(from: 0, to: value.count, by: mtu - 5) {
        let part = Array(value[start..<min(value.count, start + mtu - 5)])
        let request = ATTRequest.prepareWrite(handle, offset: UInt16(start), part: part)
        let response = try await bearer.request(request, on: handle)
        guard response == .prepareWrite(handle, offset: UInt16(start), part: part) else {
          throw .violation("the echo of a prepared write differs from the sent data")
        }
      }
    } catch {
      if bearer.ended == nil {
        _ = try await bearer.request(.executeWrite(.cancel), on: handle)
      }
      throw error
    }
    let response = try await bearer.request(.executeWrite(.commit), on: handle)
    guard case .executeWrite = response else { throw .mismatched(response) }
  }

  /// Writes without response (4.9.1). Returns when the transport has accepted the PDU; suspends
  /// while the transport is full.
  public func writeWithoutResponse(
    _ value: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    guard characteristic.properties.contains(.writeWithoutResponse) else {
      throw .notPermitted(characteristic.uuid, needs: "write without response")
    }
    let limit = maximumWriteValueLength(for: .withoutResponse)
    guard value.count <= limit else { throw .valueTooLong(bytes: value.count, limit: limit) }
    try await bearer.command(ATTPDU.writeCommand(characteristic.value, value: value).encoded)
  }

  /// Sends a Write Request that the caller has encoded (`ATTPDU.encodeWriteRequest`), and waits for
  /// the response. To continue without waiting for the response, use `beginWrite`.
  package func write(
    encoded: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    let response: ATTResponse
    do throws(GATTFault) {
      response = try await bearer.request(
        encoded: encoded, opcode: .writeRequest, on: characteristic.value)
    } catch {
      throw named(error)
    }
    guard case .write = response else { throw .mismatched(response) }
  }

  /// Sends an encoded Write Command (`ATTPDU.encodeWriteCommand`).
  package func command(encoded: [UInt8]) async throws(GATTFault) {
    try await bearer.command(encoded)
  }

  /// Sends encoded Write Commands, one after the other, as long as `next` encodes a command into
  /// the buffer. The task is suspended only while the transport is full; `afterWait` receives the
  /// duration of each wait.
  package func sendCommands(
    _ next: (inout [UInt8]) -> Bool, afterWait: (Duration) -> Void
  ) async throws(GATTFault) {
    try await bearer.sendCommands(next, afterWait: afterWait)
  }
}
