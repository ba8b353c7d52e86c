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
  public let allowsDowngrade: Bool
  /// The device is told that another board's image is meant.
  public let allowsOtherHardware: Bool

  /// - Parameters:
  ///   - image: what is sent.
  ///   - version: 0.0.0 when nobody says.
  ///   - hardware: `.any` when nobody says.
  ///   - allowsDowngrade: tells the device that an older version is meant.
  ///   - allowsOtherHardware: tells it that another board's image is meant.
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
    // Before anything is reported of the bytes: a board that reports another hardware id is
    // another device, or its image was forced onto it.
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
    // A device knows no wildcard: it is told its own (docs/ota-service.md, 4.2).
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
