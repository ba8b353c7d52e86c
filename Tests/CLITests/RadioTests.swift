import OtaflashBlueZ
import OtaflashFleet
import OtaflashGATT
import Testing

@testable import otaflash

/// What the command line adds to pairing and tuning: keys on disk, answers, words.
@Suite struct RadioTests {
  @Test func keysComeBackFromDiskAsTheyWere() throws {
    let device = try #require(BluetoothAddress("C0:FF:EE:00:00:01"))
    let adapter = try #require(BluetoothAddress("00:AA:01:01:00:00"))
    let keys = try [true, false].map { isForCentral in
      try #require(
        LongTermKey(
          device: device, kind: .legacyAuthenticated, isForCentral: isForCentral, size: 16,
          diversifier: 0x1234, random: 0x0807_0605_0403_0201, value: [UInt8](0x10...0x1F)))
    }
    let identity = try #require(
      IdentityResolvingKey(device: device, value: [UInt8](0xA0...0xAF)))
    let bond = try #require(Bond(longTermKeys: keys, identityResolvingKey: identity))
    let record = BondRecord(bond, adapter: adapter, at: 1)
    #expect(record.longTermKeys[0].random == "0102030405060708")
    #expect(record.longTermKeys[0].value == "101112131415161718191a1b1c1d1e1f")
    #expect(record.bond == bond)
  }

  @Test func whatIsNoKeyOnDiskIsNoBond() throws {
    let good = BondRecord.Key(
      kind: "legacy", isForCentral: true, size: 16, diversifier: 0, random: "0000000000000000",
      value: "101112131415161718191a1b1c1d1e1f")
    func bond(_ change: (inout BondRecord.Key) -> Void, device: String = "C0:FF:EE:00:00:01")
      -> Bond?
    {
      var key = good
      change(&key)
      return BondRecord(
        adapter: "00:AA:01:01:00:00", device: device, longTermKeys: [key],
        identityResolvingKey: nil, at: 0
      ).bond
    }
    #expect(bond { _ in } != nil)
    #expect(bond { $0.kind = "magic" } == nil)
    #expect(bond { $0.size = 300 } == nil)
    #expect(bond { $0.size = 6 } == nil)
    #expect(bond { $0.random = "00" } == nil)
    #expect(bond { $0.value = "xx" + $0.value.dropFirst(2) } == nil)
    #expect(bond { $0.value.removeLast() } == nil)
    #expect(bond({ _ in }, device: "door") == nil)
    // An address that changes is nobody's identity.
    #expect(bond({ _ in }, device: "41:02:03:04:05:06/random") == nil)
  }

  @Test func aHostThatEndedItsLinkIsNotDisconnectedOnceMore() async {
    let (near, far) = PipeLink.pair(capacity: 1)
    let host = HostLink(near)
    #expect(!host.isEndedByHost)
    far.close()
    await #expect(throws: LinkLoss.closedByPeer) { try await host.receive() }
    #expect(host.isEndedByHost)
  }

  @Test func aLinkThatTheDeviceClosesIsStillThere() async {
    let (near, _) = PipeLink.pair(capacity: 1)
    let host = HostLink(near)
    host.close()
    await #expect(throws: LinkLoss.closedLocally) { try await host.receive() }
    #expect(!host.isEndedByHost)
  }

  @Test func aPasskeyHasSixDigits() {
    #expect(PairingDialogue.passkey(in: "012345") == 12345)
    #expect(PairingDialogue.passkey(in: " 012 345\t") == 12345)
    #expect(PairingDialogue.passkey(in: "12345") == nil)
    #expect(PairingDialogue.passkey(in: "1234567") == nil)
    #expect(PairingDialogue.passkey(in: "-12345") == nil)
    #expect(PairingDialogue.passkey(in: "") == nil)
    #expect(PairingDialogue.digits(42) == "000042")
  }

  @Test func everySecurityFaultIsToldWithACommandThatHelps() {
    let context = FaultContext(
      program: "otaflash",
      arguments: ["--adapter", "hci1", "flash", "a.bin", "-d", "C0:FF:EE:00:00:01"],
      subject: Subject(device: "C0:FF:EE:00:00:01", image: "a.bin"))
    let faults: [(SecurityFault, FaultCode, Int32)] = [
      (.unsupported, .notPaired, 77), (.notPaired, .notPaired, 77),
      (.permissionDenied(cause: "A.", remedy: "B."), .permission, 77),
      (.bondForgotten, .bondForgotten, 77), (.pairingFailed(reason: "A."), .pairingFailed, 77),
      (.insufficient(reached: .encryption), .pairingFailed, 77),
      (.timedOut(after: .seconds(75)), .pairingFailed, 77),
      (.linkLost(.closedByPeer), .linkLost, 74), (.cancelled, .interrupted, 74),
    ]
    for (fault, code, exit) in faults {
      let report = FaultReport(fault, wantedBy: .insufficientEncryption, in: context)
      #expect(report.code == code && report.exit.code == exit, "\(fault)")
      #expect(report.help.hasPrefix("otaflash "), "\(fault)")
    }
    #expect(
      FaultReport(.bondForgotten, in: context).help
        == "otaflash --adapter hci1 unpair -d C0:FF:EE:00:00:01 && "
        + "otaflash --adapter hci1 pair -d C0:FF:EE:00:00:01")
  }
}
