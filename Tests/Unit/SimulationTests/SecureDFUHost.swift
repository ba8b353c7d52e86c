import Crypto
import OtaflashATT
import OtaflashFirmware
import OtaflashSimulation
import OtaflashTestSupport

/// A host that implements Nordic's Secure DFU in raw bytes without checks.
struct SecureDFUHost {
  static let control: BluetoothUUID = "8ec90001-f315-4f60-9fb8-838830daea50"
  static let packet: BluetoothUUID = "8ec90002-f315-4f60-9fb8-838830daea50"
  static let buttonless: BluetoothUUID = "8ec90003-f315-4f60-9fb8-838830daea50"
  static let firmwareRevision = BluetoothUUID(0x2A26)

  var host: BareHost

  /// Connects to the bootloader, via the application if the application is running.
  static func inBootloader(of board: SimulatedBoard, mtu: UInt16 = 247) async throws
    -> SecureDFUHost
  {
    var host = try await BareHost.connected(to: board, mtu: mtu)
    if host.has(buttonless) {
      try await host.subscribe(buttonless, 2)
      _ = try await host.ask(buttonless, [0x01])
      await host.waitForEnd()
      host = try await BareHost.connected(to: board, at: board.address.successor, mtu: mtu)
    }
    try await host.subscribe(control)
    return SecureDFUHost(host: host)
  }

  mutating func ask(_ request: [UInt8]) async throws -> [UInt8] {
    try await host.ask(Self.control, request)
  }

  mutating func ask(_ request: String) async throws -> String { text(try await ask(hex(request))) }

  /// Sends bytes in packets of `size` bytes, or of the largest multiple of 4 bytes that the ATT_MTU
  /// permits.
  mutating func send(_ bytes: some Collection<UInt8>, packetSize size: Int? = nil) async throws {
    let bytes = Array(bytes)
    let size = size ?? (host.mtu - 3) & ~3
    for start in stride(from: 0, to: bytes.count, by: size) {
      try await host.command(Self.packet, Array(bytes[start..<min(start + size, bytes.count)]))
    }
  }

  mutating func sendInit(_ packet: [UInt8]) async throws -> String {
    _ = try await ask("06 01")
    let created = try await ask([0x01, 0x01] + littleEndian(UInt32(packet.count)))
    guard created == [0x60, 0x01, 0x01] else { return text(created) }
    try await send(packet)
    _ = try await ask("03")
    return try await ask("04")
  }

  /// Sends the image, starting at an offset at an object boundary; waits for each erase. Returns
  /// the last answer.
  mutating func sendImage(
    _ image: [UInt8], from offset: Int = 0, on clock: VirtualClock
  ) async throws -> String {
    var answer = ""
    for start in stride(from: offset, to: image.count, by: 4096) {
      let object = image[start..<min(start + 4096, image.count)]
      _ = try await ask([0x01, 0x02] + littleEndian(UInt32(object.count)))
      // With one bank, the settings page is erased before the page of the first object.
      await clock.pause(for: .milliseconds(250))
      try await send(object)
      _ = try await ask("03")
      answer = try await ask("04")
      guard answer == "60 04 01" else { return answer }
    }
    return answer
  }

  /// Performs the complete update, from the application to the bootloader's reset. Sends the image
  /// only if the bootloader holds no data.
  static func flash(
    _ image: [UInt8], initPacket: [UInt8], to board: SimulatedBoard, on clock: VirtualClock
  ) async throws {
    var dfu = try await inBootloader(of: board)
    _ = try await dfu.sendInit(initPacket)
    let select = try await dfu.ask(hex("06 02"))
    let offset = Int(littleEndian(select[7..<11]))
    if offset == 0 { _ = try await dfu.sendImage(image, on: clock) }
    await dfu.host.waitForEnd()
  }
}

/// Builds init packets field by field (dfu-cc.proto); `nil` omits a field.
struct InitPacketBuilder {
  var firmwareVersion: UInt64? = 2
  var hardwareVersion: UInt64? = 52
  var softDevices: [UInt64] = [0xB7]
  var type: UInt64? = 0
  var applicationSize: Int?
  var bootloaderSize: Int?
  var softDeviceSize: Int?
  var hashType: UInt64 = 3
  var hash: [UInt8]
  var isDebug = false

  init(for image: [UInt8]) {
    applicationSize = image.count
    hash = Array(SHA256.hash(data: image).reversed())
  }

  /// The bytes that the signature covers.
  var initCommand: [UInt8] {
    var bytes: [UInt8] = []
    bytes += Self.number(1, firmwareVersion)
    bytes += Self.number(2, hardwareVersion)
    if !softDevices.isEmpty {
      bytes += Self.delimited(3, softDevices.flatMap(Self.varint))
    }
    bytes += Self.number(4, type)
    bytes += Self.number(5, softDeviceSize.map { UInt64($0) })
    bytes += Self.number(6, bootloaderSize.map { UInt64($0) })
    bytes += Self.number(7, applicationSize.map { UInt64($0) })
    bytes += Self.delimited(8, Self.number(1, hashType) + Self.delimited(2, hash))
    if isDebug { bytes += Self.number(9, 1) }
    return bytes
  }

  private var command: [UInt8] { Self.number(1, 1) + Self.delimited(2, initCommand) }

  var unsigned: [UInt8] { Self.delimited(1, command) }

  /// The init packet, signed with the key that the bootloader verifies.
  var signed: [UInt8] { signed(signature: SampleKey.signature(of: initCommand)) }

  func signed(by key: P256.Signing.PrivateKey, type: UInt64 = 0) throws -> [UInt8] {
    let raw = Array(try key.signature(for: initCommand).rawRepresentation)
    return signed(signature: raw[..<32].reversed() + raw[32...].reversed(), type: type)
  }

  func signed(signature: [UInt8], type: UInt64 = 0) -> [UInt8] {
    Self.delimited(
      2, Self.delimited(1, command) + Self.number(2, type) + Self.delimited(3, signature))
  }

  private static func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
  }

  private static func number(_ field: UInt64, _ value: UInt64?) -> [UInt8] {
    value.map { varint(field << 3) + varint($0) } ?? []
  }

  private static func delimited(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    varint(field << 3 | 2) + varint(UInt64(bytes.count)) + bytes
  }
}

func littleEndian(_ value: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

func text(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
}

/// Returns an image with a descriptor that states its version.
func makeImage(_ count: Int, version: FirmwareVersion) -> [UInt8] {
  var image = makeImage(count)
  let descriptor = ImageDescriptor(version: version, hardware: nil).encoded
  image.replaceSubrange(64..<64 + descriptor.count, with: descriptor)
  return image
}
