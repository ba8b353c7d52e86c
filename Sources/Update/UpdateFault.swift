import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Why an update did not end in a proven new image; each case names the party at fault. The
/// command line maps every case to a text, a remedy and an exit code.
public enum UpdateFault: Error, Equatable, Sendable {
  // Refused before a byte was written.
  case wrongHardware(device: HardwareID, image: HardwareID)
  case doesNotFit(imageSize: Int, slotSize: Int)
  case downgrade(running: FirmwareVersion, image: FirmwareVersion)
  case versionUnknown
  case hardwareUnknown
  // The device said no.
  case refused(UpdateStage, DeviceRefusal)
  case authorizationRequired
  case wrongKey
  case noUpdateService
  case unsupportedProtocolVersion(deviceLowest: Int, deviceHighest: Int)
  // After activation.
  case reverted(running: FirmwareVersion)
  case oldVersionStillRuns(running: FirmwareVersion)
  case differentImageRuns(running: FirmwareVersion)
  case unreachableAfterActivation(LinkLoss)
  // The transfer.
  case imageRejected(expectedCRC32: UInt32, deviceCRC32: UInt32)
  case blockKeepsFailing(atOffset: Int, attempts: Int)
  case stalled(atOffset: Int, waited: Duration)
  case noProgress(atOffset: Int, repeats: Int)
  // The link.
  case linkLost(LinkLoss, UpdateStage, resumable: Bool, acknowledged: Int)
  case couldNotConnect(ConnectFault)
  // The peer broke the protocol.
  case protocolViolation(UpdateStage, String)
  case gatt(UpdateStage, GATTFault)
  // Our own side.
  case cancelled(resumable: Bool, acknowledged: Int)
}

/// A device's refusal of a control operation (docs/ota-service.md, 4.1).
public enum DeviceRefusal: UInt8, Error, Equatable, Sendable, CaseIterable {
  case unknownOpcode = 1
  case malformedRequest = 2
  case wrongState = 3
  case notAuthorized = 4
  case wrongHardware = 5
  case doesNotFit = 6
  case downgrade = 7
  case checksumMismatch = 8
  case flashFault = 9
  case versionNotSupported = 0x0A
  case wrongProof = 0x0B
  case locked = 0x0C
  case refusedByApplication = 0x0D
  case nothingToConfirm = 0x0E
}
