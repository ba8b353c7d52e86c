import OtaflashFirmware

extension FirmwareImage {
  /// The image as a part of a Secure DFU package; `nil` if Secure DFU does not support it. A HEX
  /// file for the micro:bit V2 becomes its complete application.
  var secureDFUPackage: FirmwareImage? {
    if initPacket?.secure != nil { return self }
    guard let program = microbit?.program(for: .v2), let packet = program.initPacket else {
      return nil
    }
    return FirmwareImage(
      name: name, format: format, bytes: program.paddedApplication, version: version,
      hardware: hardware, content: .nordic(packet))
  }
}
