import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport

/// A host that implements Nordic's legacy DFU in raw bytes without checks.
struct LegacyDFUHost {
  static let control: BluetoothUUID = "00001531-1212-efde-1523-785feabcd123"
  static let packet: BluetoothUUID = "00001532-1212-efde-1523-785feabcd123"
  static let version: BluetoothUUID = "00001534-1212-efde-1523-785feabcd123"

  var host: BareHost

  /// Connects to the bootloader, via the application if the application is running.
  static func inBootloader(of board: SimulatedBoard) async throws -> LegacyDFUHost {
    var host = try await BareHost.connected(to: board, mtu: 23)
    try await host.subscribe(control)
    if try await host.read(version) == [0x01, 0x00] {
      try await host.write(control, [0x01, 0x04])
      await host.waitForEnd()
      host = try await BareHost.connected(to: board, at: board.address.successor, mtu: 23)
      try await host.subscribe(control)
    }
    return LegacyDFUHost(host: host)
  }

  /// Connects to the bootloader, which must already be running.
  static func atBootloader(of board: SimulatedBoard) async throws -> LegacyDFUHost {
    var host = try await BareHost.connected(to: board, at: board.address.successor, mtu: 23)
    try await host.subscribe(control)
    return LegacyDFUHost(host: host)
  }

  /// Returns a host in the state after an accepted init packet and the erase of the settings page.
  static func ready(
    for image: [UInt8], _ board: SimulatedBoard, _ clock: any LinkClock
  ) async throws -> LegacyDFUHost {
    var dfu = try await inBootloader(of: board)
    _ = try await dfu.begin(image.count)
    _ = try await dfu.sendInit(initPacket(for: image))
    await clock.pause(for: .milliseconds(150))
    return dfu
  }

  mutating func write(_ request: String) async throws {
    try await host.write(Self.control, hex(request))
  }

  mutating func ask(_ request: String) async throws -> String {
    text(try await host.ask(Self.control, hex(request)))
  }

  mutating func sendPacket(_ bytes: [UInt8]) async throws {
    try await host.command(Self.packet, bytes)
  }

  mutating func next() async throws -> String { text(try await host.next()) }

  mutating func begin(_ size: Int) async throws -> String {
    try await write("01 04")
    try await sendPacket(littleEndian(0) + littleEndian(0) + littleEndian(UInt32(size)))
    return try await next()
  }

  mutating func sendInit(_ packet: [UInt8]) async throws -> String {
    try await write("02 00")
    try await sendPacket(packet)
    return try await ask("02 01")
  }

  mutating func sendImage(_ image: [UInt8], packetSize: Int = 20) async throws {
    try await write("03")
    for start in stride(from: 0, to: image.count, by: packetSize) {
      try await sendPacket(Array(image[start..<min(start + packetSize, image.count)]))
    }
  }

  /// Performs the complete update, up to the device's reset.
  static func flash(_ image: [UInt8], to board: SimulatedBoard) async throws {
    // With a single bank and no application, the bootloader keeps running.
    var dfu =
      try board.runningImage().isEmpty
      ? await atBootloader(of: board) : await inBootloader(of: board)
    _ = try await dfu.begin(image.count)
    _ = try await dfu.sendInit(initPacket(for: image))
    // Each packet waits for its receipt, so the erase of the settings page ends before the buffers
    // are full.
    try await dfu.write("08 01 00")
    try await dfu.write("03")
    for start in stride(from: 0, to: image.count, by: 20) {
      try await dfu.sendPacket(Array(image[start..<min(start + 20, image.count)]))
      _ = try await dfu.next()
    }
    _ = try await dfu.ask("04")
    try await dfu.write("05")
    await dfu.host.waitForEnd()
  }

  static func initPacket(
    for image: [UInt8], type: UInt16 = 1, revision: UInt16 = 1, softDevices: [UInt16] = [0x64]
  ) -> [UInt8] {
    let words =
      [type, revision, 3, 0, UInt16(softDevices.count)] + softDevices + [crc16(image)]
    return words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }

  /// Returns the CRC16 CCITT with the initial value FFFF; `123456789` yields 29B1.
  static func crc16(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0xFFFF) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in
        crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
      }
    }
  }
}
