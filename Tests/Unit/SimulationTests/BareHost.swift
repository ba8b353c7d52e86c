import OtaflashATT
import OtaflashGATT
import OtaflashSimulation

/// A host that sends raw PDUs to any device. It finds characteristics by their declarations, writes
/// values, and stores the values that the device sends.
struct BareHost {
  enum Fault: Error, Equatable {
    case linkLost(LinkLoss)
    case refused(ATTErrorCode)
    case noCharacteristic(BluetoothUUID)
  }

  let link: any Link
  private(set) var mtu = 23
  private var values: [BluetoothUUID: AttributeHandle] = [:]
  private var inbox: [[UInt8]] = []

  init(_ link: any Link) { self.link = link }

  static func connected(
    to board: SimulatedBoard, at address: DeviceAddress? = nil, mtu: UInt16 = 247
  ) async throws -> BareHost {
    var host = BareHost(try await board.dial(address: address))
    if mtu > 23 {
      guard
        case .exchangeMTU(let server) = try await host.request(.exchangeMTU(clientReceiveMTU: mtu))
      else { throw Fault.refused(.unlikelyError) }
      host.mtu = Int(min(mtu, server))
    }
    try await host.discover()
    return host
  }

  private mutating func discover() async throws {
    var first = AttributeHandle(1)
    while true {
      let response: ATTResponse
      do {
        response = try await request(
          .readByType(HandleRange(first, .last), type: .characteristic))
      } catch Fault.refused(.attributeNotFound) {
        return
      }
      guard case .readByType(let declarations) = response, let last = declarations.last else {
        return
      }
      for declaration in declarations {
        guard let uuid = BluetoothUUID(littleEndian: declaration.value[3...]) else { continue }
        let handle = UInt16(declaration.value[1]) | UInt16(declaration.value[2]) << 8
        values[uuid] = AttributeHandle(handle)
      }
      guard let next = last.handle.next else { return }
      first = next
    }
  }

  func has(_ uuid: BluetoothUUID) -> Bool { values[uuid] != nil }

  private func handle(_ uuid: BluetoothUUID) throws -> AttributeHandle {
    guard let handle = values[uuid] else { throw Fault.noCharacteristic(uuid) }
    return handle
  }

  // MARK: Requests

  mutating func request(_ request: ATTRequest) async throws -> ATTResponse {
    try await send(.request(request))
    while true {
      guard case .response(let response) = try await receive() else { continue }
      if case .error(let error) = response { throw Fault.refused(error.code) }
      return response
    }
  }

  mutating func write(_ uuid: BluetoothUUID, _ value: [UInt8]) async throws {
    _ = try await request(.write(handle(uuid), value: value))
  }

  mutating func command(_ uuid: BluetoothUUID, _ value: [UInt8]) async throws {
    try await send(.writeCommand(handle(uuid), value: value))
  }

  mutating func read(_ uuid: BluetoothUUID) async throws -> [UInt8] {
    guard case .read(let value) = try await request(.read(handle(uuid))) else { return [] }
    return value
  }

  /// Writes the Client Characteristic Configuration that follows the value: 1 = notifications, 2 =
  /// indications.
  mutating func subscribe(_ uuid: BluetoothUUID, _ configuration: UInt8 = 1) async throws {
    guard let descriptor = try handle(uuid).next else { return }
    _ = try await request(.write(descriptor, value: [configuration, 0]))
  }

  // MARK: Values from the device

  /// Returns the next notified or indicated value.
  mutating func next() async throws -> [UInt8] {
    while inbox.isEmpty { _ = try await receive() }
    return inbox.removeFirst()
  }

  /// Removes and returns the values that arrived and that `next` has not returned.
  mutating func takeInbox() -> [[UInt8]] {
    defer { inbox.removeAll() }
    return inbox
  }

  /// Writes to a characteristic, and returns the next value from the device, which may be a value
  /// of another characteristic.
  mutating func ask(_ uuid: BluetoothUUID, _ value: [UInt8]) async throws -> [UInt8] {
    try await write(uuid, value)
    return try await next()
  }

  mutating func waitForEnd() async {
    while true {
      do { _ = try await receive() } catch { return }
    }
  }

  private func send(_ pdu: ATTPDU) async throws {
    do throws(LinkLoss) { try await link.send(pdu.encoded) } catch { throw Fault.linkLost(error) }
  }

  private mutating func receive() async throws -> ATTPDU {
    let bytes: [UInt8]
    do throws(LinkLoss) { bytes = try await link.receive() } catch { throw Fault.linkLost(error) }
    let pdu = try ATTPDU(decoding: bytes)
    switch pdu {
    case .notification(_, let value): inbox.append(value)
    case .indication(_, let value):
      inbox.append(value)
      try await send(.confirmation)
    default: break
    }
    return pdu
  }
}
