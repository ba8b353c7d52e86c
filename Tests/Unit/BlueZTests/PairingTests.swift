import OtaflashATT
import OtaflashGATT
import OtaflashWire
import Testing

@testable import OtaflashBlueZ

/// Tests of pairing, with packets in the layout of the kernel's mgmt.h.
@Suite(.timeLimit(.minutes(20))) struct PairingTests {
  static let device: [UInt8] = [0x01, 0x00, 0x00, 0xEE, 0xFF, 0xC0]
  static let keyValue = [UInt8](0x10...0x1F)
  /// The key: address, random; Secure Connections, unauthenticated; for both roles; 16 bytes; no
  /// EDIV, no Rand.
  static let key =
    device + [2, 0x02, 0x00, 0x10, 0x00, 0x00] + [UInt8](repeating: 0, count: 8) + keyValue
  /// The response to Read Controller Information: 00:AA:01:01:00:00, Core 5.0, powered, LE;
  /// supports Secure Connections.
  static let information: [UInt8] =
    [0x00, 0x00, 0x01, 0x01, 0xAA, 0x00, 9, 0, 0, 0x11, 0x0A, 0, 0, 0x01, 0x02, 0, 0]

  static func address() throws -> BluetoothAddress {
    try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
  }

  @Test func keysHaveTheKernelsBytesInBothDirections() throws {
    let packet: [UInt8] = [0x0A, 0x00, 0x00, 0x00, 0x25, 0x00, 0x01] + Self.key
    let event = try MgmtPacket(decoding: packet).event
    guard case .pairing(.newLongTermKey(let key, isToBeKept: true)) = event else {
      Issue.record("\(event)")
      return
    }
    #expect(key.device == (try Self.address()))
    #expect(key.kind == .secureUnauthenticated && !key.isForCentral && key.size == 16)
    #expect(key.value == Self.keyValue && !key.isAuthenticated)
    #expect(
      MgmtCommand.loadLongTermKeys([key]).encoded(index: 0)
        == [0x13, 0x00, 0x00, 0x00, 0x26, 0x00, 0x01, 0x00] + Self.key)
  }

  @Test func aLegacyKeyKeepsItsDiversifierAndRandomNumber() throws {
    let bytes: [UInt8] =
      Self.device + [2, 0x01, 0x01, 0x07, 0x34, 0x12, 1, 2, 3, 4, 5, 6, 7, 8] + Self.keyValue
    var fields = MgmtFields(bytes[...])
    let key = try #require(try LongTermKey.decode(&fields))
    #expect(key.diversifier == 0x1234 && key.random == 0x0807_0605_0403_0201)
    #expect(key.isForCentral && key.size == 7 && key.isAuthenticated)
    #expect(key.bytes == bytes)
  }

  @Test func invalidKeysAreIgnored() throws {
    // The keys are invalid: a private address, an unknown kind, a size below 7, BR/EDR.
    for (index, value) in [(5, 0x40), (7, 9), (9, 6), (6, 0)] as [(Int, UInt8)] {
      var bytes = Self.key
      bytes[index] = value
      var fields = MgmtFields(bytes[...])
      #expect(try LongTermKey.decode(&fields) == nil, "byte \(index)")
    }
    var short = MgmtFields(Self.key.dropLast())
    #expect(throws: MgmtDecodeFault.self) { try LongTermKey.decode(&short) }
  }

  @Test func anIdentityHasTheKernelsBytes() throws {
    let packet: [UInt8] =
      [0x18, 0x00, 0x00, 0x00, 0x1E, 0x00, 0x01, 6, 5, 4, 3, 2, 0x41] + Self.device + [2]
      + Self.keyValue
    let event = try MgmtPacket(decoding: packet).event
    guard case .pairing(.newIdentityResolvingKey(let key, let used, true)) = event else {
      Issue.record("\(event)")
      return
    }
    #expect(used == BluetoothAddress("41:02:03:04:05:06/random"))
    #expect(
      MgmtCommand.loadIdentityResolvingKeys([key]).encoded(index: 1)
        == [0x30, 0x00, 0x01, 0x00, 0x19, 0x00, 0x01, 0x00] + Self.device + [2] + Self.keyValue)
  }

  @Test func requestsAndAnswersHaveTheKernelsBytes() throws {
    let device = try Self.address()
    func event(_ code: UInt8, _ parameters: [UInt8]) throws -> MgmtEvent {
      try MgmtPacket(
        decoding: [code, 0, 0, 0, UInt8(parameters.count), 0] + parameters
      ).event
    }
    let address = Self.device + [2]
    #expect(
      try event(0x0F, address + [1, 0x40, 0xE2, 0x01, 0x00])
        == .pairing(.confirmationRequest(device, value: 123_456, isHint: true)))
    #expect(try event(0x10, address) == .pairing(.passkeyRequest(device)))
    #expect(
      try event(0x17, address + [0x40, 0xE2, 0x01, 0x00, 0])
        == .pairing(.passkeyNotification(device, passkey: 123_456)))
    #expect(
      try event(0x11, address + [5])
        == .pairing(.authenticationFailed(device, MgmtStatus(rawValue: 5))))
    #expect(
      try event(0x0C, address + [4]) == .pairing(.disconnected(device, .authenticationFailure)))
    #expect(throws: MgmtDecodeFault.self) { try event(0x0F, address + [1, 0]) }
    // The event concerns BR/EDR.
    #expect(try event(0x10, Self.device + [0]) == .other(code: 0x0010))
    #expect(
      MgmtCommand.enterPasskey(device, 999_999).encoded(index: 0)
        == [0x1E, 0, 0, 0, 11, 0] + address + [0x3F, 0x42, 0x0F, 0x00])
    #expect(
      MgmtCommand.enterPasskey(device, nil).encoded(index: 0) == [0x1F, 0, 0, 0, 7, 0] + address)
    #expect(MgmtCommand.confirm(device, true).encoded(index: 0) == [0x1C, 0, 0, 0, 7, 0] + address)
    #expect(
      MgmtCommand.confirm(device, false).encoded(index: 0) == [0x1D, 0, 0, 0, 7, 0] + address)
    #expect(MgmtCommand.unpair(device).encoded(index: 0) == [0x1B, 0, 0, 0, 8, 0] + address + [1])
  }

  // MARK: The agent

  private func agent(
    _ kernel: FakeKernel, makesBonds: Bool = true, bonding: PairingAgent.Bonding = .always,
    bonds: [Bond] = [], passkey: UInt32? = nil, daemon: Bool = false, kept: Record<Bond> = Record(),
    paired: Record<PairingAgent.Pairing> = Record()
  ) -> PairingAgent {
    let session = kernel.session
    return PairingAgent(
      adapter: 0, makesBonds: makesBonds, bonding: bonding,
      user: PairingUser(
        capability: .keyboardDisplay, confirm: { _ in true }, passkey: { _ in passkey },
        show: { _, _ in }),
      bonds: { _ in bonds }, keep: { bond, _ in kept.append(bond) },
      paired: { paired.append($0) },
      open: { () throws(MgmtFault) in session }, isDaemonRunning: { daemon })
  }

  /// Responds to the first commands of an agent, and returns them.
  private func prepare(_ kernel: FakeKernel, commands: Int) async throws -> [[UInt8]] {
    var seen: [[UInt8]] = []
    for _ in 0..<commands {
      let command = try await kernel.receive()
      seen.append(command)
      let opcode = UInt16(command[0]) | UInt16(command[1]) << 8
      try await kernel.complete(opcode, opcode == 0x0004 ? Self.information : [])
    }
    return seen
  }

  private func bond() throws -> Bond {
    var fields = MgmtFields(Self.key[...])
    let key = try #require(try LongTermKey.decode(&fields))
    return try #require(Bond(longTermKeys: [key]))
  }

  @Test func theAdapterIsConfiguredAndRestored() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel, bonds: [try bond()])
    async let started: Void = agent.start()
    let seen = try await prepare(kernel, commands: 6)
    await started
    #expect(
      seen == [
        [0x04, 0, 0, 0, 0, 0], [0x30, 0, 0, 0, 2, 0, 0, 0],
        [0x13, 0, 0, 0, 0x26, 0, 1, 0] + Self.key, [0x18, 0, 0, 0, 1, 0, 4],
        [0x09, 0, 0, 0, 1, 0, 1], [0x2D, 0, 0, 0, 1, 0, 1],
      ])
    agent.stop()
    #expect(
      await kernel.receiveToEnd() == [
        [0x18, 0, 0, 0, 1, 0, 3], [0x09, 0, 0, 0, 1, 0, 0], [0x2D, 0, 0, 0, 1, 0, 0],
      ])
  }

  @Test func theKernelsRequestsAreAnsweredAndTheKeysStored() async throws {
    let kernel = try FakeKernel()
    let kept = Record<Bond>()
    let agent = agent(kernel, passkey: 123_456, kept: kept)
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 4)
    await started
    async let running: Void = agent.run()
    try await kernel.send(event: 0x0010, Self.device + [2])
    #expect(
      try await kernel.receive() == [0x1E, 0, 0, 0, 11, 0] + Self.device + [2, 0x40, 0xE2, 1, 0])
    try await kernel.send(event: 0x000F, Self.device + [2, 1, 0, 0, 0, 0])
    #expect(try await kernel.receive() == [0x1C, 0, 0, 0, 7, 0] + Self.device + [2])
    // The first key must not be stored; the second key must be stored.
    try await kernel.send(event: 0x000A, [0] + Self.key)
    try await kernel.send(event: 0x000A, [1] + Self.key)
    let made = await agent.newBond(with: try Self.address(), within: .seconds(3600))
    #expect(made == (try bond()))
    #expect(kept.elements == [try bond()])
    agent.stop()
    await running
  }

  @Test func withoutPairingTheAgentRefusesTheKernelsRequests() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel, makesBonds: false)
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 4)
    await started
    async let running: Void = agent.run()
    try await kernel.send(event: 0x000F, Self.device + [2, 1, 0, 0, 0, 0])
    #expect(try await kernel.receive() == [0x1D, 0, 0, 0, 7, 0] + Self.device + [2])
    try await kernel.send(event: 0x0010, Self.device + [2])
    #expect(try await kernel.receive() == [0x1F, 0, 0, 0, 7, 0] + Self.device + [2])
    let device = try Self.address()
    #expect(throws: SecurityFault.notPaired) { try SecurityAttempt(on: device, with: agent) }
    agent.stop()
    await running
  }

  /// Returns the packet of the command Set Bondable.
  private static func setBondable(_ isOn: Bool) -> [UInt8] { [0x09, 0, 0, 0, 1, 0, isOn ? 1 : 0] }

  @Test func onlyALinkThatRequiresSecurityCreatesABond() async throws {
    let kernel = try FakeKernel()
    let kept = Record<Bond>()
    let paired = Record<PairingAgent.Pairing>()
    let agent = agent(kernel, bonding: .whenRequired, kept: kept, paired: paired)
    async let started: Void = agent.start()
    // The adapter is not bondable and stays not bondable.
    let seen = try await prepare(kernel, commands: 3)
    #expect(!seen.contains(Self.setBondable(true)))
    await started
    async let running: Void = agent.run()
    // The device requested the pairing, so the keys are for this link only. The pairing is reported
    // once although it has two keys.
    try await kernel.send(event: 0x000A, [0] + Self.key)
    try await kernel.send(event: 0x000A, [0] + Self.key)
    try await kernel.send(event: 0x000C, Self.device + [2, 3])
    // An attribute requires the pairing.
    let device = try Self.address()
    let attempt = try SecurityAttempt(on: device, with: agent)
    #expect(try await kernel.receive() == Self.setBondable(true))
    try await kernel.send(event: 0x000A, [1] + Self.key)
    #expect(await agent.newBond(with: device, within: .seconds(3600)) == (try bond()))
    attempt.finish()
    #expect(try await kernel.receive() == Self.setBondable(false))
    #expect(kept.elements == [try bond()])
    #expect(
      paired.elements == [
        PairingAgent.Pairing(device: device, isAuthenticated: false, isKept: false),
        PairingAgent.Pairing(device: device, isAuthenticated: false, isKept: true),
      ])
    agent.stop()
    await running
  }

  @Test func aDeviceThatDisconnectsAfterARefusalIsPaired() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel, bonding: .whenRequired)
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 3)
    await started
    async let running: Void = agent.run()
    // The kernel refuses the pairing because the adapter is not bondable, and then the device ends
    // the link. One such end may be a restart of the device, and a link that the host ends does not
    // count.
    for reason in [3, 2, 3, 3] as [UInt8] {
      try await kernel.send(event: 0x0011, Self.device + [2, 5])
      try await kernel.send(event: 0x000C, Self.device + [2, reason])
    }
    #expect(try await kernel.receive() == Self.setBondable(true))
    agent.stop()
    await running
  }

  @Test func bluetoothdIsNotDisturbed() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel, bonds: [try bond()], daemon: true)
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 1)
    await started
    await agent.run()
    #expect(await kernel.receiveToEnd() == [])
    #expect(try SecurityAttempt(on: Self.address(), with: agent).needsPerson == false)
  }

  @Test func withoutTheCapabilityTheRemedyIsReported() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel)
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 1)
    _ = try await kernel.receive()
    // Status 0x14 is Permission Denied.
    try await kernel.complete(0x0018, status: 0x14)
    await started
    let attempt = try SecurityAttempt(on: Self.address(), with: agent)
    guard case .permissionDenied(_, let remedy) = attempt.timeIsUp(.seconds(5)) else {
      Issue.record("\(attempt.timeIsUp(.seconds(5)))")
      return
    }
    #expect(remedy == .grantCapabilities)
  }

  @Test func aFailureIdentifiesItsCause() async throws {
    let kernel = try FakeKernel()
    let agent = agent(kernel, bonds: [try bond()])
    async let started: Void = agent.start()
    _ = try await prepare(kernel, commands: 6)
    await started
    async let running: Void = agent.run()
    let attempt = try SecurityAttempt(on: Self.address(), with: agent)
    try await kernel.send(event: 0x000C, Self.device + [2, 4])
    let end = try #require(await attempt.end.wait())
    #expect(end == .disconnected(.authenticationFailure))
    #expect(attempt.fault(end) == .bondForgotten)
    #expect(attempt.fault(.disconnected(.byDevice)) == .linkLost(.closedByPeer))
    agent.stop()
    await running
  }

  @Test func aBondOfTwoKeysGrowsAndIsReplacedCompletely() throws {
    var fields = MgmtFields(Self.key[...])
    let first = try #require(try LongTermKey.decode(&fields))
    let old = try #require(Bond(longTermKeys: [first]))
    var ledger = PairingLedger(bonds: [old])
    func legacy(_ isForCentral: Bool) throws -> LongTermKey {
      try #require(
        LongTermKey(
          device: Self.address(), kind: .legacyAuthenticated, isForCentral: isForCentral, size: 16,
          diversifier: 7, random: 9, value: Self.keyValue))
    }
    #expect(ledger.bond(of: try Self.address()) == old)
    #expect(!ledger.wasPaired(try Self.address()))
    let one = ledger.take(.newLongTermKey(try legacy(true), isToBeKept: true))
    #expect(one?.longTermKeys.count == 1)
    let two = ledger.take(.newLongTermKey(try legacy(false), isToBeKept: true))
    #expect(two?.longTermKeys.map(\.isForCentral) == [true, false])
    #expect(two?.isAuthenticated == true)
    #expect(ledger.wasPaired(try Self.address()))
  }

  @Test func aDeviceIsRecognizedByTheAddressItUsed() throws {
    var ledger = PairingLedger()
    let used = try #require(BluetoothAddress("41:02:03:04:05:06/random"))
    let identity = try #require(
      IdentityResolvingKey(device: Self.address(), value: Self.keyValue))
    #expect(
      ledger.take(
        .newIdentityResolvingKey(identity, usedAddress: used, isToBeKept: true)) == nil)
    var fields = MgmtFields(Self.key[...])
    let key = try #require(try LongTermKey.decode(&fields))
    let bond = ledger.take(.newLongTermKey(key, isToBeKept: true))
    #expect(bond?.identityResolvingKey == identity)
    #expect(ledger.bond(of: used) == bond)
  }

  /// The identity address of this device takes precedence over an address that another device used.
  @Test func aDeviceIsRecognizedEvenIfAnotherDeviceUsedItsAddress() throws {
    var ledger = PairingLedger()
    let address = try Self.address()
    let stranger = try #require(BluetoothAddress("C1:02:03:04:05:06/random"))
    let other = try #require(IdentityResolvingKey(device: stranger, value: Self.keyValue))
    _ = ledger.take(.newIdentityResolvingKey(other, usedAddress: address, isToBeKept: true))
    var fields = MgmtFields(Self.key[...])
    let key = try #require(try LongTermKey.decode(&fields))
    let bond = ledger.take(.newLongTermKey(key, isToBeKept: true))
    #expect(bond != nil && ledger.bond(of: address) == bond && ledger.wasPaired(address))
  }
}
