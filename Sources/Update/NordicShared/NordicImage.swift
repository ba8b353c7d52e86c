import OtaflashFirmware
import OtaflashGATT

extension NordicInitPacket {
  /// The fields of an init packet for Secure DFU.
  var secure: SecureInitPacket? {
    guard case .secure(let fields) = command else { return nil }
    return fields
  }

  var isLegacy: Bool { secure == nil }
}

extension FirmwareImage {
  /// The bootloader runs after its own or its SoftDevice's update; an application does not.
  var leavesBootloader: Bool { initPacket.map { $0.role != .application } ?? false }
}

extension DeviceLocation {
  /// Where to search for the program that a bootloader at this location has started.
  func after(_ images: [FirmwareImage]) -> [DeviceLocation] {
    if images.allSatisfy(\.leavesBootloader) { return [self] }
    // The bootloader's location comes last: the device is there only if nothing was started.
    return self == .home ? [.home, .previousAddress] : [.home, self]
  }
}

extension Preflight {
  /// Nordic's bootloaders report neither the running application nor the available space; they
  /// refuse the image themselves. Only versions of application and image can be compared, not
  /// bytes, so the same version counts as the same image. SoftDevices and bootloaders have versions
  /// that no device reports.
  ///
  /// - Throws: `downgrade`.
  static func check(
    _ image: FirmwareImage, against running: FirmwareVersion?, _ options: UpdateOptions
  ) throws(UpdateFault) -> Preflight {
    if let running, let version = image.version, !image.leavesBootloader {
      if version == running && !options.sendsAnyway { return .alreadyCurrent }
      if version < running && !options.allowsDowngrade {
        throw .downgrade(running: running, image: version)
      }
    }
    return .send(
      UpdatePlan(
        image: image, version: image.version ?? FirmwareVersion(0, 0, 0),
        allowsDowngrade: options.allowsDowngrade))
  }
}

extension UpdateFault {
  /// The device at the bootloader's address runs an application: it is another device.
  static let strangerAtBootloaderAddress = UpdateFault.couldNotConnect(
    .deviceNotFound(
      cause: "The device at the bootloader's address is not a bootloader: it is another device.",
      remedy: .advice("Bring the device nearer, or start its bootloader by hand.")))
}
