import OtaflashFirmware

extension FirmwareImage {
  /// The image as a part of a Secure DFU package; `nil` if Secure DFU does not support it. A HEX
  /// file for the micro:bit V2 becomes its complete application.
  var secureDFUPackage: FirmwareImage? {
    initPacket?.secure != nil ? self : application(of: .v2)
  }

  /// The image as a part of a legacy DFU package; `nil` if legacy DFU does not support it. A HEX
  /// file for the micro:bit V1 becomes its complete application.
  var legacyDFUPackage: FirmwareImage? {
    initPacket?.isLegacy == true ? self : application(of: .v1)
  }

  private func application(of board: MicrobitBoard) -> FirmwareImage? {
    guard let program = microbit?.program(for: board), let packet = program.initPacket else {
      return nil
    }
    return FirmwareImage(
      name: name, format: format, bytes: program.paddedApplication, version: version,
      hardware: hardware, content: .nordic(packet))
  }
}
