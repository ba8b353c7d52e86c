import Crypto
import Foundation
import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import Testing

/// Tests of the checks of init packets by the Secure DFU bootloader, and of the ways from the
/// application to the bootloader.
@Suite struct InitPacketTests {
  static let image = makeImage(6000, version: FirmwareVersion(1, 3, 0))

  /// Returns the answer to the Execute request of the init packet.
  private func answer(to packet: [UInt8], profile: String = "nordic-dfu") throws -> String {
    try withBoard(profile) { board, _ in
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      return try await dfu.sendInit(packet)
    }
  }

  /// A change to a valid init packet, and the answer to the changed packet.
  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: String
    let change: @Sendable (inout InitPacketBuilder) -> Void

    init(
      _ what: String, _ answer: String,
      _ change: @escaping @Sendable (inout InitPacketBuilder) -> Void
    ) {
      (testDescription, self.answer, self.change) = (what, answer, change)
    }
  }

  @Test(arguments: [
    Example("right", "60 04 01") { _ in },
    Example("no type", "60 04 0b 04") { $0.type = nil },
    Example("an external application", "60 04 0b 04") { $0.type = 4 },
    Example("CRC for a hash", "60 04 0b 09") { $0.hashType = 1 },
    Example("no hardware version", "60 04 0b 04") { $0.hardwareVersion = nil },
    Example("lower hardware version", "60 04 0b 06") { $0.hardwareVersion = 51 },
    Example("higher hardware version", "60 04 0b 06") { $0.hardwareVersion = 53 },
    Example("another SoftDevice", "60 04 0b 07") { $0.softDevices = [0xFFFE, 0x100] },
    Example("several SoftDevices", "60 04 01") { $0.softDevices = [0x100, 0xB7] },
    Example("no SoftDevice", "60 04 0b 07") { $0.softDevices = [] },
    Example("a SoftDevice in the package", "60 04 01") { $0.softDevices = [0, 0x100] },
    Example("no firmware version", "60 04 0b 04") { $0.firmwareVersion = nil },
    Example("the same firmware version", "60 04 01") { $0.firmwareVersion = 1 },
    Example("a lower firmware version", "60 04 0b 05") { $0.firmwareVersion = 0 },
    Example("no size", "60 04 0b 04") { $0.applicationSize = nil },
    Example("no room", "60 04 0b 0d") { $0.applicationSize = 524_289 },
    Example("a debug packet without a debug bootloader", "60 04 0b 06") {
      $0.isDebug = true
      $0.hardwareVersion = 99
    },
    Example("the same bootloader", "60 04 0b 05") {
      $0.type = 2
      ($0.applicationSize, $0.bootloaderSize) = (nil, 6000)
      $0.firmwareVersion = 1
    },
    Example("a newer bootloader", "60 04 01") {
      $0.type = 2
      ($0.applicationSize, $0.bootloaderSize) = (nil, 6000)
    },
    Example("a SoftDevice", "60 04 01") {
      $0.type = 1
      ($0.applicationSize, $0.softDeviceSize) = (nil, 6000)
      $0.firmwareVersion = nil
    },
  ])
  func theVersionsAreCompared(example: Example) throws {
    var builder = InitPacketBuilder(for: Self.image)
    example.change(&builder)
    #expect(try answer(to: builder.signed) == example.answer)
  }

  @Test func aDebugBootloaderAcceptsADebugPacket() throws {
    var builder = InitPacketBuilder(for: Self.image)
    (builder.isDebug, builder.hardwareVersion, builder.firmwareVersion) = (true, 99, 0)
    #expect(try answer(to: builder.signed, profile: "nordic-dfu?debug=yes") == "60 04 01")
  }

  /// The packets are truncated, have an unknown wire type, or have a length beyond the end.
  @Test(arguments: ["0a", "0a 02 08", "0f 01", "0a ff ff ff ff ff ff ff ff ff 01", "08 80"])
  func aMalformedInitPacketIsAnInvalidObject(bytes: String) throws {
    #expect(try answer(to: hex(bytes)) == "60 04 05")
  }

  @Test func onlyTheInitCommandIsSupported() throws {
    #expect(try answer(to: hex("0a 02 08 00")) == "60 04 0b 03")
    #expect(try answer(to: hex("0a 02 08 01")) == "60 04 0b 04")
    #expect(try answer(to: hex("12 02 10 00")) == "60 04 0b 04")
  }

  @Test func aSignatureIsVerifiedIfTheDeviceHasAKey() throws {
    let key = P256.Signing.PrivateKey()
    let publicKey = key.publicKey.rawRepresentation.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
    let profile = "nordic-dfu?key=\(publicKey)"
    let builder = InitPacketBuilder(for: Self.image)
    let packets = [
      (try builder.signed(by: key), "60 04 01"), (builder.unsigned, "60 04 0b 08"),
      (try builder.signed(by: key, type: 1), "60 04 0b 0b"),
      (try builder.signed(by: P256.Signing.PrivateKey()), "60 04 05"),
      (builder.signed(signature: [1, 2]), "60 04 05"),
    ]
    for (packet, answer) in packets {
      #expect(try self.answer(to: packet, profile: profile) == answer)
    }
    let wrong = builder.signed(signature: [1, 2])
    #expect(try answer(to: wrong, profile: "nordic-dfu?key=none") == "60 04 01", "no verification")
  }

  /// Like released bootloaders, the default profile requires a signed init packet.
  @Test func anUnsignedPackageIsRefusedByDefault() throws {
    let builder = InitPacketBuilder(for: Self.image)
    #expect(try answer(to: builder.unsigned) == "60 04 0b 08")
    #expect(try answer(to: builder.signed(signature: [1, 2])) == "60 04 05")
    #expect(try answer(to: builder.signed) == "60 04 01")
    #expect(try answer(to: builder.unsigned, profile: "nordic-dfu?key=none") == "60 04 01")
  }

  /// The key in the file for nrfutil must match the key of the bootloader.
  @Test func theSampleKeyMatchesTheFile() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appendingPathComponent("firmware-samples/nordic-dfu-sample.pem")
    let key = try P256.Signing.PrivateKey(
      pemRepresentation: String(contentsOf: file, encoding: .utf8))
    #expect(Array(key.publicKey.rawRepresentation) == SampleKey.publicKey)
  }

  @Test func executingAValidInitPacketAgainChangesNothing() throws {
    try withBoard("nordic-dfu") { board, _ in
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      let packet = InitPacketBuilder(for: Self.image).signed
      #expect(try await dfu.sendInit(packet) == "60 04 01")
      #expect(try await dfu.ask("04") == "60 04 01")
      // A new object discards the executed init packet, and an incomplete object is not executed.
      #expect(try await dfu.ask("01 01 40 00 00 00") == "60 01 01")
      try await dfu.send(packet.prefix(20))
      #expect(try await dfu.ask("04") == "60 04 08")
      #expect(try await dfu.ask("01 02 00 10 00 00") == "60 01 08")
    }
  }

  @Test func aNewBootloaderWaitsForItsApplication() throws {
    try withBoard("nordic-dfu") { board, clock in
      var builder = InitPacketBuilder(for: Self.image)
      builder.type = 2
      (builder.applicationSize, builder.bootloaderSize) = (nil, 6000)
      let factory = try board.runningImage()
      try await SecureDFUHost.flash(
        Self.image, initPacket: builder.signed, to: board, on: clock)
      let there = try await board.dial(address: board.address.successor)
      there.close()
      #expect(try board.runningImage() == factory)
      // The same version does not count as newer.
      var dfu = try await SecureDFUHost.inBootloader(of: board)
      #expect(try await dfu.sendInit(builder.signed) == "60 04 0b 05")
      let begun = clock.now
      await dfu.host.waitForEnd()
      #expect(begun.duration(to: clock.now) < .seconds(11))
    }
  }

  // MARK: From the application to the bootloader

  private static let buttonless = SecureDFUHost.buttonless

  @Test func withoutIndicationsTheApplicationRefuses() throws {
    try withBoard("nordic-dfu") { board, _ in
      var host = try await BareHost.connected(to: board)
      await #expect(throws: BareHost.Fault.refused(ATTErrorCode(0xFD))) {
        try await host.write(Self.buttonless, [0x01])
      }
    }
  }

  @Test(arguments: [
    ("02 03 6f 74 61", "20 02 01"), ("02 00", "20 02 05"), ("02 04 6f 74 61", "20 02 05"),
    ("02 15" + String(repeating: " 41", count: 21), "20 02 05"), ("03", "20 03 02"),
  ])
  func theApplicationAnswers(request: String, answer: String) throws {
    try withBoard("nordic-dfu") { board, _ in
      var host = try await BareHost.connected(to: board)
      try await host.subscribe(Self.buttonless, 2)
      #expect(text(try await host.ask(Self.buttonless, hex(request))) == answer)
    }
  }

  @Test func theBootloaderHasTheNextAddressAndTheRequestedName() throws {
    try withBoard("nordic-dfu?seed=255") { board, clock in
      #expect(board.address.description == "C0:FF:EE:00:FF:00")
      var host = try await BareHost.connected(to: board)
      try await host.subscribe(Self.buttonless, 2)
      _ = try await host.ask(Self.buttonless, hex("02 03 6f 74 61"))
      #expect(text(try await host.ask(Self.buttonless, hex("01"))) == "20 01 01")
      await host.waitForEnd()
      await clock.pause(for: .milliseconds(500))
      let advertised = board.advertisement
      #expect(advertised?.id == "C0:FF:EE:00:FF:01" && advertised?.name == "ota")
      #expect(advertised?.services == [BluetoothUUID(0xFE59)])
      await #expect(throws: ConnectFault.self) { _ = try await board.dial(within: .seconds(3)) }
      _ = try await BareHost.connected(to: board, at: board.address.successor)
    }
  }

  @Test func withoutAConfirmationTheApplicationKeepsRunning() throws {
    try withBoard("nordic-dfu") { board, clock in
      var host = try await BareHost.connected(to: board)
      try await host.subscribe(Self.buttonless, 2)
      try await host.write(Self.buttonless, [0x01])
      host.link.close()
      await clock.pause(for: .seconds(2))
      #expect(board.advertisement?.id == board.address.description)
    }
  }

  @Test func withBondsTheAddressStaysAndTheLinkIsEncrypted() throws {
    let characteristic: BluetoothUUID = "8ec90004-f315-4f60-9fb8-838830daea50"
    try withBoard("nordic-dfu?entry=bonded") { board, _ in
      var host = try await BareHost.connected(to: board)
      #expect(host.has(BluetoothUUID(0x2A05)))
      await #expect(throws: BareHost.Fault.refused(.insufficientEncryption)) {
        try await host.subscribe(characteristic, 2)
      }
      try await host.link.raiseSecurity(to: .encryption)
      try await host.subscribe(characteristic, 2)
      #expect(text(try await host.ask(characteristic, hex("02 01 41"))) == "20 02 02")
      _ = try await host.ask(characteristic, [0x01])
      await host.waitForEnd()
      host = try await BareHost.connected(to: board, at: board.address)
      #expect(host.has(SecureDFUHost.control) && host.has(BluetoothUUID(0x2A05)))
    }
  }

  @Test func theExperimentalServiceNotifies() throws {
    let characteristic: BluetoothUUID = "8e400001-f315-4f60-9fb8-838830daea50"
    try withBoard("nordic-dfu?entry=experimental") { board, _ in
      var host = try await BareHost.connected(to: board)
      try await host.subscribe(characteristic, 1)
      #expect(text(try await host.ask(characteristic, [0x01])) == "20 01 01")
      await host.waitForEnd()
      _ = try await BareHost.connected(to: board, at: board.address.successor)
    }
  }
}
