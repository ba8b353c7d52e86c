import OtaflashATT
import Synchronization

/// The GATT client procedures on one connection (Core 5.4, Vol 3, Part G, 4).
///
/// A client lives as long as its link; `withGATTClient` and `Peripheral` make one. What discovery
/// finds is kept for the connection and dropped when the server indicates Service Changed.
public final class GATTClient: Sendable {
  /// The most attributes one discovery may return: every step must advance, so this is only
  /// reached by a server that fills all its handles.
  static let discoveryStepsMaximum = 65_535
  /// The longest attribute value (Core 5.4, Vol 3, Part F, 3.2.9).
  public static let attributeValueMaximum = 512
  /// Notifications kept for a subscriber that does not read them; the oldest are dropped first.
  public static let notificationBufferDefault = 256

  struct Cache {
    var services: [DiscoveredService]?
    var characteristics: [HandleRange: [DiscoveredCharacteristic]] = [:]
    var descriptors: [AttributeHandle: [AttributeInformation]] = [:]
    var enabled: [AttributeHandle: UInt16] = [:]
    var changesSeen = 0
  }

  let bearer: ATTBearer
  let cache = Mutex(Cache())
  private let observe: @Sendable (ConnectionInput) -> Void

  package init(
    bearer: ATTBearer, observe: @escaping @Sendable (ConnectionInput) -> Void = { _ in }
  ) {
    self.bearer = bearer
    self.observe = observe
  }

  func report(_ input: ConnectionInput) { observe(input) }

  /// ATT_MTU in octets, 23…517.
  public var mtu: Int { bearer.mtu }

  /// What the transport knows of the air.
  public var linkFacts: LinkFacts { bearer.link.facts }

  /// What the link offers now.
  public var security: AttributeSecurity { bearer.link.security }

  /// Pairs with the device, or uses the keys of an earlier pairing, before any attribute asks for
  /// it. Requests that are refused for want of security raise it by themselves.
  public func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await bearer.raiseSecurity(to: wanted)
  }

  /// Why the connection ended; `nil` while it stands.
  public var ended: GATTFault? { bearer.ended }

  /// Waits for the connection's end; `false` when it still stands after `limit`.
  func waitUntilEnded(within limit: Duration, on clock: any LinkClock) async -> Bool {
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

  /// Exchange MTU (Core 5.4, Vol 3, Part F, 3.4.2). Permitted once a connection; the effective MTU
  /// is the smaller of both sides', and 23 where the server does not know the request.
  ///
  /// - Parameter desired: 23…517.
  /// - Returns: the effective ATT_MTU in octets.
  /// - Throws: `.mtuOutOfRange`, and what a request throws.
  public func requestMTU(_ desired: Int = 512) async throws(GATTFault) -> Int {
    guard let wanted = ATTMTU(octets: desired) else {
      throw .mtuOutOfRange(desired)
    }
    return try await bearer.exchangeMTU(wanted)
  }

  // MARK: Read and write

  /// Reads a value, with Read Blob for what does not fit one response (4.8.1, 4.8.3).
  public func read(_ characteristic: DiscoveredCharacteristic) async throws(GATTFault) -> [UInt8] {
    guard characteristic.properties.contains(.read) else {
      throw .notPermitted(characteristic.uuid, needs: "read")
    }
    return try await read(handle: characteristic.value)
  }

  /// Reads any attribute by handle, long values included.
  public func read(handle: AttributeHandle) async throws(GATTFault) -> [UInt8] {
    var full = mtu - 1
    let response = try await bearer.request(.read(handle), on: handle)
    guard case .read(var value) = response else { throw .mismatched(response) }
    let first = value.count
    var part = value
    // The MTU may change meanwhile, when the peer asks for ours: a part is full by either.
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
      throw .violation("an attribute has \(value.count) octets; 512 are permitted")
    }
    return value
  }

  /// Writes a value and waits for the server's answer (4.9.3; 4.9.4 when it is longer than
  /// ATT_MTU − 3).
  public func write(
    _ value: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    guard characteristic.properties.contains(.write) else {
      throw .notPermitted(characteristic.uuid, needs: "write")
    }
    try await write(value, handle: characteristic.value)
  }

  /// Writes any attribute by handle, long values by Prepare and Execute.
  public func write(_ value: [UInt8], handle: AttributeHandle) async throws(GATTFault) {
    guard value.count <= Self.attributeValueMaximum else {
      throw .valueTooLong(octets: value.count, limit: Self.attributeValueMaximum)
    }
    guard value.count <= mtu - 3 else { return try await writeLong(value, handle: handle) }
    let response = try await bearer.request(.write(handle, value: value), on: handle)
    guard case .write = response else { throw .mismatched(response) }
  }

  /// Write Long Characteristic Values (4.9.4). The server echoes each part; one that differs
  /// cancels the whole write.
  private func writeLong(_ value: [UInt8], handle: AttributeHandle) async throws(GATTFault) {
    do throws(GATTFault) {
      for start in stride(from: 0, to: value.count, by: mtu - 5) {
        let part = Array(value[start..<min(value.count, start + mtu - 5)])
        let request = ATTRequest.prepareWrite(handle, offset: UInt16(start), part: part)
        let response = try await bearer.request(request, on: handle)
        guard response == .prepareWrite(handle, offset: UInt16(start), part: part) else {
          throw .violation("the echo of a prepared write differs from what was sent")
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

  /// Writes without an answer (4.9.1). Returns when the transport has taken the PDU; suspends while
  /// it is full.
  public func writeWithoutResponse(
    _ value: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    guard characteristic.properties.contains(.writeWithoutResponse) else {
      throw .notPermitted(characteristic.uuid, needs: "write without response")
    }
    guard value.count <= mtu - 3 else { throw .valueTooLong(octets: value.count, limit: mtu - 3) }
    try await bearer.command(ATTPDU.writeCommand(characteristic.value, value: value).encoded)
  }

  /// The path of every image octet: a write whose PDU was encoded by the caller in one piece
  /// (`ATTPDU.encodeWriteRequest`).
  package func write(
    encoded: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    let response = try await bearer.request(
      encoded: encoded, opcode: .writeRequest, on: characteristic.value)
    guard case .write = response else { throw .mismatched(response) }
  }

  /// The same without an answer (`ATTPDU.encodeWriteCommand`).
  package func command(encoded: [UInt8]) async throws(GATTFault) {
    try await bearer.command(encoded)
  }

  /// Sends such a PDU if the transport takes it at once; `false` = nothing was sent.
  package func offer(encoded: [UInt8]) throws(GATTFault) -> Bool { try bearer.offer(encoded) }

  // MARK: Notifications

  /// Which of the two kinds a subscription asks for.
  public enum Subscription: UInt16, Sendable {
    case notifications = 0x0001
    case indications = 0x0002
  }

  /// Subscribes to a characteristic (4.10, 4.11) and returns its values from now on. The Client
  /// Characteristic Configuration is written for the first subscriber only.
  ///
  /// - Parameter kind: `nil` takes notifications where there are some, else indications.
  public func subscribe(
    to characteristic: DiscoveredCharacteristic, as kind: Subscription? = nil,
    buffering capacity: Int = notificationBufferDefault
  ) async throws(GATTFault) -> NotificationStream {
    let kind = if let kind { kind } else { try Self.subscription(of: characteristic) }
    let needed: CharacteristicProperties = kind == .notifications ? .notify : .indicate
    guard characteristic.properties.contains(needed) else {
      throw .notPermitted(
        characteristic.uuid, needs: kind == .notifications ? "notify" : "indicate")
    }
    report(.subscribing)
    let observer = NotificationObserver(capacity: capacity)
    // Observe first: a server may notify before it answers the write.
    try bearer.add(observer, on: characteristic.value)
    let registration = NotificationStream.Registration(
      observer: observer, bearer: bearer, handle: characteristic.value)
    try await configure(characteristic, kind.rawValue)
    report(.subscribed)
    return NotificationStream(registration: registration)
  }

  /// Asks the server to send no more values. Streams that are open stay open and stay silent.
  public func unsubscribe(
    from characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) {
    try await configure(characteristic, 0)
  }

  private static func subscription(
    of characteristic: DiscoveredCharacteristic
  ) throws(GATTFault) -> Subscription {
    if characteristic.properties.contains(.notify) { return .notifications }
    if characteristic.properties.contains(.indicate) { return .indications }
    throw .notPermitted(characteristic.uuid, needs: "notify or indicate")
  }

  private func configure(
    _ characteristic: DiscoveredCharacteristic, _ bits: UInt16
  ) async throws(GATTFault) {
    if cache.withLock({ $0.enabled[characteristic.value] == bits }) { return }
    let descriptors = try await descriptors(of: characteristic)
    guard let cccd = descriptors.first(where: { $0.type == .clientCharacteristicConfiguration })
    else { throw .notFound(.clientCharacteristicConfiguration) }
    try await write([UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)], handle: cccd.handle)
    cache.withLock { $0.enabled[characteristic.value] = bits }
  }
}
