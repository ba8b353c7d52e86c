import OtaflashFirmware
import OtaflashGATT

extension NordicInitPacket {
  /// The fields of an init packet for Secure DFU; `nil` for an init packet for Legacy DFU.
  var secure: SecureInitPacket? {
    guard case .secure(let fields) = command else { return nil }
    return fields
  }

  var isLegacy: Bool { secure == nil }
}

extension FirmwareImage {
  /// Whether the device stays in its bootloader after the update, because the image replaces the
  /// bootloader or the SoftDevice.
  var leavesBootloader: Bool { initPacket.map { $0.role != .application } ?? false }
}

extension DeviceLocation {
  /// Returns the possible locations of the device after a bootloader at this location has installed
  /// the images, in search order.
  func after(_ images: [FirmwareImage]) -> [DeviceLocation] {
    if images.allSatisfy(\.leavesBootloader) { return [self] }
    // If the specified address is the bootloader's own, the application is at the previous address.
    // Otherwise, the bootloader's location comes last: the device is there only if nothing was
    // started.
    return self == .home ? [.home, .previousAddress] : [.home, self]
  }
}

extension Preflight {
  /// Compares the versions of the running application and the image. Their bytes cannot be
  /// compared, so an image with the same version counts as the same image. No device reports the
  /// versions of its SoftDevice and bootloader. Nordic's bootloaders report neither the installed
  /// application nor the available space, so they refuse an unsuitable image themselves.
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
  /// The device at the bootloader's address runs an application, so it is another device.
  static let strangerAtBootloaderAddress = UpdateFault.couldNotConnect(
    .deviceNotFound(
      cause: "The device at the bootloader's address is not a bootloader: it is another device.",
      remedy: .advice("Move the device closer, or start its bootloader manually.")))
}
