import OtaflashFirmware
import OtaflashGATT

extension NordicInitPacket {
  /// Its fields, where it is one for Secure DFU.
  var secure: SecureInitPacket? {
    guard case .secure(let fields) = command else { return nil }
    return fields
  }

  var isLegacy: Bool { secure == nil }
}

extension FirmwareImage {
  /// A bootloader follows its own SoftDevice or successor, not an application.
  var leavesBootloader: Bool { initPacket.map { $0.role != .application } ?? false }
}

extension DeviceLocation {
  /// Where to look for what a bootloader has started that was itself found here.
  func after(_ images: [FirmwareImage]) -> [DeviceLocation] {
    if images.allSatisfy(\.leavesBootloader) { return [self] }
    // The bootloader's place comes last: to find it there again means that nothing was started.
    return self == .home ? [.home, .previousAddress] : [.home, self]
  }
}

extension Preflight {
  /// Neither of Nordic's bootloaders tells what it runs or has room for: it refuses by itself.
  /// Only an application that tells its version can be compared with an image that has one: its
  /// bytes cannot, so the same version is taken for the same image. SoftDevices and bootloaders
  /// have versions of their own, which nobody tells.
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
  /// Whoever is at the bootloader's address runs an application: it is another device.
  static let strangerAtBootloaderAddress = UpdateFault.couldNotConnect(
    .deviceNotFound(
      cause: "The device at the bootloader's address is no bootloader, so it is another device.",
      remedy: .advice("Bring the device nearer, or start its bootloader by hand.")))
}
