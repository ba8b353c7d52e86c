import OtaflashFirmware

/// The image to send and the values to announce, after all checks have passed.
public struct UpdatePlan: Equatable, Sendable {
  /// The image to send.
  public let image: FirmwareImage
  /// The version that is announced to the device, if its protocol announces one.
  public let version: FirmwareVersion
  /// The hardware id that is announced.
  public let hardware: HardwareID
  /// Whether to inform the device that an image with an older or unknown version is intended.
  public let allowsDowngrade: Bool
  /// Whether to inform the device that an image for another board is intended.
  public let allowsOtherHardware: Bool

  /// Creates a plan.
  ///
  /// - Parameters:
  ///   - image: the image to send.
  ///   - version: 0.0.0 if the version is unknown.
  ///   - hardware: `.any` if the hardware is unknown.
  ///   - allowsDowngrade: whether to inform the device that an older version is intended.
  ///   - allowsOtherHardware: whether to inform the device that an image for another board is
  ///     intended.
  public init(
    image: FirmwareImage, version: FirmwareVersion = .unknown,
    hardware: HardwareID = .any, allowsDowngrade: Bool = false,
    allowsOtherHardware: Bool = false
  ) {
    self.image = image
    self.version = version
    self.hardware = hardware
    self.allowsDowngrade = allowsDowngrade
    self.allowsOtherHardware = allowsOtherHardware
  }
}

/// The decision whether to send an image to a device, made before a byte is written.
public enum Preflight: Equatable, Sendable {
  /// The device already runs this image; nothing is sent.
  case alreadyCurrent
  /// The image is sent.
  case send(UpdatePlan)

  /// Compares the known properties of the image with the report of the device.
  ///
  /// - Throws: `wrongHardware`, `doesNotFit`, `downgrade`, `versionUnknown`, `hardwareUnknown`, or
  ///   `authorizationRequired` if the device requires a key and no key was specified.
  public static func check(
    _ image: FirmwareImage, against device: DeviceReport, options: UpdateOptions
  ) throws(UpdateFault) -> Preflight {
    let isRunning =
      device.runningCRC32 == image.crc32
      && (image.version == nil || image.version == device.runningVersion ?? .unknown)
    // The board is checked before the bytes are compared. A board with another hardware id is
    // another device, or its running image was installed despite a different hardware id.
    try checkBoard(image.hardware, device, options)
    if isRunning && !options.sendsAnyway { return .alreadyCurrent }
    let hardware = try hardware(of: image, for: device, options)
    if let slotSize = device.slotSize, image.bytes.count > slotSize {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: slotSize)
    }
    let version = try version(of: image, for: device, options)
    if device.needsAuthorization && options.key == nil { throw .authorizationRequired }
    return .send(
      UpdatePlan(
        image: image, version: version, hardware: hardware,
        allowsDowngrade: options.allowsDowngrade || image.version == nil,
        allowsOtherHardware: options.allowsOtherHardware))
  }

  private static func checkBoard(
    _ hardware: HardwareID?, _ device: DeviceReport, _ options: UpdateOptions
  ) throws(UpdateFault) {
    guard let hardware, hardware != .any, let board = device.hardware, board != hardware,
      !options.allowsOtherHardware
    else { return }
    throw .wrongHardware(device: board, image: hardware)
  }

  private static func hardware(
    of image: FirmwareImage, for device: DeviceReport, _ options: UpdateOptions
  ) throws(UpdateFault) -> HardwareID {
    guard let hardware = image.hardware else {
      guard options.allowsUnknown else { throw .hardwareUnknown }
      return device.hardware ?? .any
    }
    // Devices do not support a wildcard, so the host announces the device's own id
    // (docs/ota-service.md, 4.2).
    return hardware == .any ? device.hardware ?? .any : hardware
  }

  private static func version(
    of image: FirmwareImage, for device: DeviceReport, _ options: UpdateOptions
  ) throws(UpdateFault) -> FirmwareVersion {
    guard let version = image.version else {
      guard options.allowsUnknown else { throw .versionUnknown }
      return .unknown
    }
    if let running = device.runningVersion, version < running, !options.allowsDowngrade {
      throw .downgrade(running: running, image: version)
    }
    return version
  }
}
