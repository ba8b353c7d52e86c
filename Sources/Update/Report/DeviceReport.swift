import OtaflashFirmware

/// The report of the device before anything is sent.
public struct DeviceReport: Equatable, Sendable {
  /// The outcome of the device's last start, as its bootloader reports it.
  public enum BootOutcome: String, Sendable {
    /// A normal start.
    case normal
    /// The last activation was carried out.
    case activated
    /// The last activation was rejected, or carried out and reverted.
    case rejected
  }

  /// The update protocol.
  public var updateProtocol: UpdateProtocol
  /// The version of the protocol, as the device reports it.
  public var protocolVersion: Int
  /// Whether the device runs its bootloader, which reports nothing about the application.
  public var isInBootloader = false
  /// The id of the board; `nil` if unknown.
  public var hardware: HardwareID?
  /// The running version; `nil` if unknown.
  public var runningVersion: FirmwareVersion?
  /// The build number of the running version, if the device reports one.
  public var runningBuild: UInt32?
  /// The CRC32 of the running image.
  public var runningCRC32: UInt32?
  /// The maximum size of an image in bytes.
  public var slotSize: Int?
  /// The number of bytes that the device accepts before it has written them to flash; for SMP, the
  /// maximum length of a request.
  public var bufferSize: Int?
  /// Whether an update must authenticate with a key.
  public var needsAuthorization: Bool
  /// Whether the running image is on trial, that is, not confirmed yet.
  public var isOnTrial: Bool
  /// A condition that makes an update risky, such as a weak battery, as one complete sentence;
  /// `nil` if there is no such condition.
  public var caution: String?
  /// The methods by which the device can receive an image, other than the image as it is.
  public var deliveryMethods: Set<DeliveryMethod> = []
  /// The part of the report that only devices of this protocol provide; `nil` if the protocol
  /// defines no such part, or if the device did not provide it.
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

  /// Creates a report in which only the protocol is known.
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

  /// The part of SMP; `nil` for devices of other protocols.
  public var smp: SMPServerReport? {
    if case .smp(let report) = details { report } else { nil }
  }

  /// The part of a Secure DFU bootloader; `nil` for a Secure DFU application, and for devices of
  /// other protocols.
  public var secureDFU: SecureDFUReport? {
    if case .secureDFU(let report) = details { report } else { nil }
  }
}
