import OtaflashFirmware

/// What will be sent, once nothing stands in the way.
public struct UpdatePlan: Equatable, Sendable {
  /// What is sent.
  public let image: FirmwareImage
  /// What is announced to the device, where its protocol announces it.
  public let version: FirmwareVersion
  /// What it is announced for.
  public let hardware: HardwareID
  /// The device shall accept an older version, or another board.
  public let allowDowngrade: Bool
  /// The device is told that another board's image is meant.
  public let allowOtherHardware: Bool

  /// - Parameters:
  ///   - image: what is sent.
  ///   - version: 0.0.0 when nobody says.
  ///   - hardware: `.any` when nobody says.
  ///   - allowDowngrade: tells the device that an older version is meant.
  ///   - allowOtherHardware: tells it that another board's image is meant.
  public init(
    image: FirmwareImage, version: FirmwareVersion = .unknown,
    hardware: HardwareID = .any, allowDowngrade: Bool = false,
    allowOtherHardware: Bool = false
  ) {
    self.image = image
    self.version = version
    self.hardware = hardware
    self.allowDowngrade = allowDowngrade
    self.allowOtherHardware = allowOtherHardware
  }
}

/// What to do with an image and a device, decided before a byte is written.
public enum Preflight: Equatable, Sendable {
  /// The device runs this very image; nothing is sent.
  case alreadyCurrent
  /// The image is sent.
  case send(UpdatePlan)

  /// Compares what is known of the image with what the device says of itself.
  ///
  /// - Throws: `wrongHardware`, `doesNotFit`, `downgrade`, `versionUnknown`, `hardwareUnknown`, or
  ///   `authorizationRequired` when the device wants a key and there is none.
  public static func check(
    _ image: FirmwareImage, against device: DeviceReport, options: UpdateOptions
  ) throws(UpdateFault) -> Preflight {
    let isRunning =
      device.runningCRC32 == image.crc32
      && (image.version == nil || image.version == device.runningVersion ?? .unknown)
    if isRunning && !options.evenIfCurrent { return .alreadyCurrent }
    let hardware = try hardware(of: image, for: device, options)
    if let slotSize = device.slotSize, image.bytes.count > slotSize {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: slotSize)
    }
    let version = try version(of: image, for: device, options)
    if device.needsAuthorization && options.key == nil { throw .authorizationRequired }
    return .send(
      UpdatePlan(
        image: image, version: version, hardware: hardware,
        allowDowngrade: options.allowDowngrade || image.version == nil,
        allowOtherHardware: options.allowOtherHardware))
  }

  private static func hardware(
    of image: FirmwareImage, for device: DeviceReport, _ options: UpdateOptions
  ) throws(UpdateFault) -> HardwareID {
    guard let hardware = image.hardware else {
      guard options.allowUnknown else { throw .hardwareUnknown }
      return device.hardware ?? .any
    }
    // A device knows no wildcard: it is told its own (docs/ota-service.md, 4.2).
    if hardware == .any { return device.hardware ?? .any }
    if let board = device.hardware, board != hardware, !options.allowOtherHardware {
      throw .wrongHardware(device: board, image: hardware)
    }
    return hardware
  }

  private static func version(
    of image: FirmwareImage, for device: DeviceReport, _ options: UpdateOptions
  ) throws(UpdateFault) -> FirmwareVersion {
    guard let version = image.version else {
      guard options.allowUnknown else { throw .versionUnknown }
      return .unknown
    }
    if let running = device.runningVersion, version < running, !options.allowDowngrade {
      throw .downgrade(running: running, image: version)
    }
    return version
  }
}
