import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Testing

/// Tests of the party that is responsible for a failed update.
@Suite struct PartyTests {
  @Test(arguments: [
    (UpdateFault.downgrade(running: .init(1, 3, 0), image: .init(1, 2, 0)), UpdateFault.Party.user),
    (.wrongKey, .user), (.cancelled(resumable: true, acknowledged: 10), .user),
    (.declined(.prepare, .otaService(.wrongHardware)), .user),
    (.declined(.verify, .otaService(.checksumMismatch)), .device),
    (.declined(.upload, .otaService(.flashFault)), .device),
    (.declined(.prepare, .otaService(.versionNotSupported)), .host),
    (.reverted(running: nil), .device), (.protocolViolation(.upload, "it lies"), .device),
    (.stalled(atOffset: 0, waited: .seconds(25)), .device),
    (.linkLost(.supervisionTimeout, .upload, resumable: true, acknowledged: 1), .link),
    (.unreachableAfterActivation(.closedByPeer), .link),
    (.bondForgotten(isActivated: true, resumable: false, acknowledged: 1), .user),
    (.stoppedAfterActivation(by: .cancellation, expected: nil), .user),
    (.couldNotConnect(.deviceNotFound(cause: "It is silent.", remedy: .comeCloser)), .link),
    (.couldNotConnect(.adapterUnavailable(cause: "It is off.", remedy: .restartAdapter)), .host),
    (.gatt(.connect, .linkLost(.closedByPeer)), .link),
    (.gatt(.connect, .transactionTimedOut), .device),
    (.gatt(.connect, .mtuOutOfRange(22)), .host),
  ])
  func theResponsiblePartyIsNamed(_ fault: UpdateFault, _ party: UpdateFault.Party) {
    #expect(fault.party == party)
  }
}
