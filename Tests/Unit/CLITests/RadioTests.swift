import OtaflashBlueZ
import OtaflashGATT
import OtaflashUpdate
import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests of the end of a link, of passkeys, and of the messages about pairing.
@Suite struct RadioTests {
  @Test func aClosedLinkIsNotClosedAgain() async {
    let (near, far) = MemoryLink.pair(capacity: 1)
    let host = HostLink(near)
    #expect(!host.isEndedByHost)
    far.close()
    await #expect(throws: LinkLoss.closedByPeer) { try await host.receive() }
    #expect(host.isEndedByHost)
  }

  @Test func aLinkThatTheDeviceClosesIsStillOpen() async {
    let (near, _) = MemoryLink.pair(capacity: 1)
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

  @Test func everySecurityFaultHasACommandAsRemedy() {
    let context = FaultContext(
      program: "otaflash",
      arguments: ["--adapter", "hci1", "flash", "a.bin", "-d", "C0:FF:EE:00:00:01"],
      subject: Subject(device: "C0:FF:EE:00:00:01", image: "a.bin"))
    let faults: [(SecurityFault, FaultCode, Int32)] = [
      (.unsupported, .notPaired, 77), (.notPaired, .notPaired, 77),
      (.permissionDenied(cause: "A.", remedy: .advice("B.")), .permission, 77),
      (.bondForgotten, .bondForgotten, 77), (.pairingFailed(reason: "A."), .pairingFailed, 77),
      (.insufficient(reached: .encryption), .pairingFailed, 77),
      (.timedOut(after: .seconds(75)), .pairingFailed, 77),
      (.linkLost(.closedByPeer), .linkLost, 74), (.cancelled, .interrupted, 74),
    ]
    for (fault, code, exit) in faults {
      let report = FaultReport(
        UpdateFault.gatt(
          .connect, .insecure(AttributeReference(.first), .insufficientEncryption, fault)),
        in: context)
      #expect(report.code == code && report.exit.code == exit, "\(fault)")
      #expect(report.help.hasPrefix("otaflash "), "\(fault)")
    }
    for fault in [
      UpdateFault.bondForgotten(isActivated: true, resumable: false, acknowledged: 9),
      .couldNotConnect(.lostWhileConnecting(.keysRefused)),
      .gatt(.connect, .linkLost(.keysRefused)),
    ] {
      let report = FaultReport(fault, in: context)
      #expect(report.code == .bondForgotten && report.exit.code == 77, "\(fault)")
      #expect(report.what == "the device has forgotten this computer", "\(fault)")
      #expect(
        report.help.hasPrefix("otaflash --adapter hci1 unpair -d C0:FF:EE:00:00:01 && "), "\(fault)"
      )
    }
    let named = FaultContext(
      program: "otaflash", arguments: ["flash", "a.bin", "-d", "name:door"],
      subject: Subject(device: "name:door", image: "a.bin"))
    let lost = FaultReport(
      UpdateFault.bondForgotten(isActivated: true, resumable: false, acknowledged: 9), in: named)
    #expect(lost.help == "otaflash unpair -d name:door && otaflash flash a.bin -d name:door")
    #expect(lost.why.contains("the next restart of the device restores the old version"))
    #expect(
      FaultReport(SecurityFault.bondForgotten, in: context).help
        == "otaflash --adapter hci1 unpair -d C0:FF:EE:00:00:01 && "
        + "otaflash --adapter hci1 pair -d C0:FF:EE:00:00:01")
  }
}
