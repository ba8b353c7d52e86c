import OtaflashFirmware

/// What the device says of itself before anything is sent.
public struct DeviceReport: Equatable, Sendable {
  /// How the device's last start went, as its bootloader says.
  public enum BootOutcome: String, Sendable {
    /// As usual.
    case normal
    /// The last activation was carried out.
    case activated
    /// The last activation was rejected, or carried out and reverted.
    case rejected
  }

  /// The protocol that is spoken.
  public var updateProtocol: UpdateProtocol
  /// The protocol's version, as the device tells it.
  public var protocolVersion: Int
  /// The device runs its bootloader, which reports nothing of the application.
  public var isInBootloader = false
  /// The board's id; `nil` where nobody tells.
  public var hardware: HardwareID?
  /// The version that runs; `nil` where nobody tells.
  public var runningVersion: FirmwareVersion?
  /// The build number behind it, where the device tells one.
  public var runningBuild: UInt32?
  /// Of the image that runs.
  public var runningCRC32: UInt32?
  /// The largest image, in bytes.
  public var slotSize: Int?
  /// Bytes that the device takes ahead of its flash.
  public var bufferSize: Int?
  /// An update must prove a key.
  public var needsAuthorization: Bool
  /// The image that runs has not been confirmed yet.
  public var isOnTrial: Bool
  /// What only devices of this protocol report; `nil` where the protocol has nothing of the kind.
  public var details: Details?

  /// The part of a report that belongs to one protocol.
  public enum Details: Equatable, Sendable {
    /// The otaflash OTA service.
    case otaService(OTAServiceReport)
    /// A server of the Simple Management Protocol.
    case smp(SMPServerReport)
    /// A bootloader of Nordic's Secure DFU.
    case secureDFU(SecureDFUReport)
  }

  /// A report of which nothing but the protocol is known yet.
  public init(_ updateProtocol: UpdateProtocol, protocolVersion: Int) {
    self.updateProtocol = updateProtocol
    self.protocolVersion = protocolVersion
    needsAuthorization = false
    isOnTrial = false
  }
}

extension DeviceReport {
  /// The part of the OTA service; `nil` for devices of other protocols.
  public var otaService: OTAServiceReport? {
    if case .otaService(let report) = details { report } else { nil }
  }

  /// The device makes an image out of a patch against the one that runs, or out of a compressed
  /// one.
  public var takesPatches: Bool { otaService?.takesPatches ?? false }

  /// The part of SMP; `nil` for devices of other protocols.
  public var smp: SMPServerReport? {
    if case .smp(let report) = details { report } else { nil }
  }

  /// The part of Secure DFU; `nil` for devices of other protocols.
  public var secureDFU: SecureDFUReport? {
    if case .secureDFU(let report) = details { report } else { nil }
  }
}
