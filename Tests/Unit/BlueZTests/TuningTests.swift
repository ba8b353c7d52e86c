import Glibc
import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

/// Tests of the tuning of connections, with packets in the layout of Core 5.4, Vol 4, Part E.
@Suite(.timeLimit(.minutes(20))) struct TuningTests {
  static let handle: UInt16 = 0x0040
  static let peerBytes: [UInt8] = [0x01, 0x00, 0x00, 0xEE, 0xFF, 0xC0]

  static func peer() throws -> BluetoothAddress {
    try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
  }

  /// LE Connection Complete: handle 0x0040, central, random address, 50 ms, no latency, 420 ms.
  static let connected: [UInt8] =
    [0x04, 0x3E, 0x13, 0x01, 0x00, 0x40, 0x00, 0x00, 0x01] + peerBytes
    + [0x28, 0x00, 0x00, 0x00, 0x2A, 0x00, 0x00]

  // MARK: Bytes

  @Test func commandsHaveTheSpecificationsBytes() throws {
    let wanted = try #require(
      LinkTuning.flashing.parameters(for: Self.peer()))
    #expect(
      HCICommand.updateConnection(Self.handle, wanted).encoded == [
        0x01, 0x13, 0x20, 0x0E, 0x40, 0x00, 0x06, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00, 0x00,
        0x00, 0x00, 0x00,
      ])
    #expect(
      HCICommand.setDataLength(Self.handle, bytes: 251, microseconds: 2120).encoded == [
        0x01, 0x22, 0x20, 0x06, 0x40, 0x00, 0xFB, 0x00, 0x48, 0x08,
      ])
    #expect(HCICommand.readPHY(Self.handle).encoded == [0x01, 0x30, 0x20, 0x02, 0x40, 0x00])
    #expect(
      HCICommand.setPHY(Self.handle, .le2M).encoded == [
        0x01, 0x32, 0x20, 0x07, 0x40, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00,
      ])
    #expect(
      HCICommand.setPHY(Self.handle, .coded).encoded.suffix(4) == [0x04, 0x04, 0x00, 0x00])
    #expect(
      HCICommand.setPHY(Self.handle, .codedS8).encoded.suffix(4) == [0x04, 0x04, 0x02, 0x00])
  }

  @Test func eventsAreRead() throws {
    let timing = ConnectionTiming(interval: 40, latency: 0, supervisionTimeout: 42)
    #expect(
      try HCIEvent(decoding: Self.connected)
        == .connected(Self.handle, to: Self.peer(), timing))
    // The enhanced event contains two more fields: the resolvable addresses of the host and of the
    // peer.
    let enhanced: [UInt8] =
      [0x04, 0x3E, 0x1F, 0x0A, 0x00, 0x40, 0x00, 0x00, 0x01] + Self.peerBytes
      + [UInt8](repeating: 0, count: 12) + [0x28, 0x00, 0x00, 0x00, 0x2A, 0x00, 0x00]
    #expect(
      try HCIEvent(decoding: enhanced) == .connected(Self.handle, to: Self.peer(), timing))
    #expect(
      try HCIEvent(
        decoding: [0x04, 0x3E, 0x0A, 0x03, 0x00, 0x40, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00])
        == .updated(
          Self.handle, status: .success,
          ConnectionTiming(interval: 12, latency: 0, supervisionTimeout: 200)))
    #expect(
      try HCIEvent(
        decoding: [
          0x04, 0x3E, 0x0B, 0x07, 0x40, 0x00, 0xFB, 0x00, 0x48, 0x08, 0xFB, 0x00, 0x48, 0x08,
        ]) == .dataLengthChanged(Self.handle, bytes: 251))
    #expect(
      try HCIEvent(decoding: [0x04, 0x3E, 0x06, 0x0C, 0x00, 0x40, 0x00, 0x02, 0x02])
        == .phyUpdated(
          Self.handle, status: .success, transmit: .le2M, receive: .le2M))
    #expect(
      try HCIEvent(decoding: [0x04, 0x0F, 0x04, 0x01, 0x01, 0x32, 0x20])
        == .commandStatus(opcode: 0x2032, status: HCIStatus(rawValue: 1)))
    #expect(
      try HCIEvent(decoding: [0x04, 0x05, 0x04, 0x00, 0x40, 0x00, 0x13])
        == .disconnected(Self.handle))
    // The event returns command credits without a command.
    #expect(
      try HCIEvent(decoding: [0x04, 0x0E, 0x03, 0x01, 0x00, 0x00]) == .other(code: 0x0E))
    for torn in [[], [0x02, 0x00], [0x04, 0x3E, 0x13, 0x01], Self.connected.dropLast()]
      as [[UInt8]]
    {
      #expect(throws: MgmtDecodeFault.self, "\(torn)") { try HCIEvent(decoding: torn) }
    }
  }

  @Test func aFailedConnectionIsNotALink() throws {
    var failed = Self.connected
    failed[4] = 0x3E
    #expect(try HCIEvent(decoding: failed) == .other(code: 0x3E))
  }

  @Test func theDefaultsAreRead() throws {
    let answer: [UInt8] = [
      0x17, 0x00, 2, 0x18, 0x00, 0x1B, 0x00, 4, 9, 9, 9, 9, 0x18, 0x00, 2, 0x28, 0x00, 0x19, 0x00,
      2, 0, 0, 0x1A, 0x00, 2, 0x2A, 0x00,
    ]
    let defaults = try #require(SystemConfiguration(decoding: answer))
    #expect(defaults.intervalMinimum == 24 && defaults.intervalMaximum == 40)
    #expect(defaults.latency == 0 && defaults.supervisionTimeout == 42)
    #expect(SystemConfiguration(decoding: Array(answer.dropLast())) == nil)
    #expect(SystemConfiguration(decoding: Array(answer.dropLast(5))) == nil)
    #expect(
      MgmtCommand.readDefaultSystemConfiguration.encoded(index: 1) == [0x4B, 0, 1, 0, 0, 0])
  }

  @Test func contradictoryParametersAreNotRequested() {
    #expect(LinkTuning.flashing.isPossible)
    #expect(LinkTuning().isPossible)
    var tuning = LinkTuning.flashing
    tuning.interval = .milliseconds(5)...(.milliseconds(15))
    #expect(!tuning.isPossible)
    tuning.interval = .seconds(2)...(.seconds(2))
    #expect(!tuning.isPossible)
    tuning.supervisionTimeout = .seconds(4)
    #expect(!tuning.isPossible)
    tuning.supervisionTimeout = .seconds(8)
    #expect(tuning.isPossible)
    tuning.payload = 252
    #expect(!tuning.isPossible)
  }

  @Test func aHandleOfAnotherAdapterIsNotConfused() throws {
    var table = LinkTable()
    table.take(try HCIEvent(decoding: Self.connected))
    let stranger = try #require(BluetoothAddress("C0:FF:EE:00:00:02"))
    #expect(table.entry(Self.handle, to: try Self.peer())?.timing.text == "50 ms")
    #expect(table.entry(Self.handle, to: stranger) == nil)
    table.take(.disconnected(Self.handle))
    #expect(table.entry(Self.handle, to: try Self.peer()) == nil)
  }

  /// The arithmetic supports only possible payloads, so the value from a controller is checked
  /// (found by `make fuzz`).
  @Test(arguments: [(0, nil), (26, nil), (27, 27), (251, 251), (252, nil), (0xFFFF, nil)])
  func anImpossiblePayloadIsIgnored(_ bytes: UInt16, _ expected: Int?) throws {
    var table = LinkTable()
    table.take(try HCIEvent(decoding: Self.connected))
    table.take(.dataLengthChanged(Self.handle, bytes: bytes))
    #expect(table.entry(Self.handle, to: try Self.peer())?.facts.linkLayerPayload == expected)
  }

  @Test func intervalsAreFormattedWithoutTrailingZeros() {
    #expect(ConnectionTiming.text(6) == "7.5 ms")
    #expect(ConnectionTiming.text(9) == "11.25 ms")
    #expect(ConnectionTiming.text(12) == "15 ms")
    #expect(ConnectionTiming.text(3200) == "4000 ms")
  }

  // MARK: The tuner

  /// A controller at the other end of the tuner's raw socket.
  private struct Controller {
    let socket: HCISocket
    private let end: SeqpacketSocket

    init() throws {
      var raw: [Int32] = [-1, -1]
      precondition(socketpair(AF_UNIX, Int32(5), 0, &raw) == 0)
      for end in raw { precondition(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
      socket = try HCISocket(FileDescriptor(owning: raw[0]))
      end = try SeqpacketSocket(FileDescriptor(owning: raw[1]), maximumSize: 260)
    }

    func receive() async throws -> [UInt8] { try await end.receive() }
    func send(_ packet: [UInt8]) async throws { try await end.send(packet) }
  }

  @Test func eachParameterIsRequestedAndReadBack() async throws {
    let controller = try Controller()
    let reports = Record<[TuningStep]>()
    let hour = Duration.seconds(3600)
    let tuner = LinkTuner(
      adapter: 0, tuning: .flashing,
      limits: LinkTuner.Limits(procedure: hour, length: hour, sighting: hour),
      report: { _, steps in reports.append(steps) }, openSocket: { controller.socket },
      openSession: { nil })
    await tuner.start()
    async let running: Void = tuner.run()
    try await controller.send(Self.connected)
    let peer = try Self.peer()
    async let tuned: Void = tuner.tune(Self.handle, to: peer)
    // The interval is accepted and then applied.
    #expect(try await controller.receive().prefix(3) == [0x01, 0x13, 0x20])
    try await controller.send([0x04, 0x0F, 0x04, 0x00, 0x01, 0x13, 0x20])
    try await controller.send([
      0x04, 0x3E, 0x0A, 0x03, 0x00, 0x40, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00,
    ])
    // The device does not support the PHY.
    #expect(try await controller.receive().prefix(3) == [0x01, 0x32, 0x20])
    try await controller.send([0x04, 0x0F, 0x04, 0x1A, 0x01, 0x32, 0x20])
    // The command for the packet length completes, and the length changes.
    #expect(try await controller.receive().prefix(3) == [0x01, 0x22, 0x20])
    try await controller.send([0x04, 0x0E, 0x06, 0x01, 0x22, 0x20, 0x00, 0x40, 0x00])
    try await controller.send([
      0x04, 0x3E, 0x0B, 0x07, 0x40, 0x00, 0xFB, 0x00, 0x48, 0x08, 0xFB, 0x00, 0x48, 0x08,
    ])
    await tuned
    #expect(
      reports.elements == [
        [
          TuningStep(subject: .interval, asked: "7.5…15 ms", outcome: .granted, now: "15 ms"),
          TuningStep(
            subject: .phy, asked: "2M",
            outcome: .refused("the device does not support the feature (HCI error 0x1A)"), now: nil),
          TuningStep(subject: .payload, asked: "251 B", outcome: .granted, now: "251 B"),
        ]
      ])
    #expect(
      tuner.facts(of: Self.handle, to: peer)
        == LinkFacts(
          connectionInterval: .milliseconds(15), linkLayerPayload: 251, peripheralLatency: 0,
          supervisionTimeout: .seconds(2)))
    tuner.stop()
    await running
  }

  @Test func aMissingCapabilityIsReported() async throws {
    let reports = Record<[TuningStep]>()
    let tuner = LinkTuner(
      adapter: 0, tuning: .flashing, report: { _, steps in reports.append(steps) },
      openSocket: { nil }, openSession: { nil })
    await tuner.start()
    await tuner.run()
    await tuner.tune(Self.handle, to: try Self.peer())
    #expect(
      reports.elements.first?.map(\.outcome) == [.notPermitted, .notPermitted, .notPermitted])
  }

  @Test func theKernelsParametersAreSetAndRestored() async throws {
    let kernel = try FakeKernel()
    let session = kernel.session
    let tuner = LinkTuner(
      adapter: 0, tuning: .flashing, report: { _, _ in }, openSocket: { nil },
      openSession: { session })
    async let started: Void = tuner.start()
    _ = try await kernel.receive()
    try await kernel.complete(
      0x004B,
      [
        0x17, 0x00, 2, 0x18, 0x00, 0x18, 0x00, 2, 0x28, 0x00, 0x19, 0x00, 2, 0, 0, 0x1A, 0x00, 2,
        0x2A, 0x00,
      ])
    await started
    let peer = try Self.peer()
    let entry: [UInt8] = Self.peerBytes + [2]
    // The parameters are also set before a reconnection, because another process may have made the
    // kernel drop them. They are restored once.
    for _ in 1...2 {
      async let prepared: Void = tuner.prepare(peer)
      #expect(
        try await kernel.receive()
          == [0x35, 0, 0, 0, 17, 0, 1, 0] + entry + [6, 0, 12, 0, 0, 0, 200, 0])
      try await kernel.complete(0x0035)
      await prepared
    }
    tuner.stop()
    #expect(
      await kernel.receiveToEnd() == [
        [0x35, 0, 0, 0, 17, 0, 1, 0] + entry + [24, 0, 40, 0, 0, 0, 42, 0]
      ])
  }
}
